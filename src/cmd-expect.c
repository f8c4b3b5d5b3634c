#include "cmd.h"
enum exit_status cmd_expect(const struct options *options) { (void)options; return EXIT_WELL; }

# nics.tsv to rows of struct nic_model (src/judge/gpus.h).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 3 { print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"; exit 1 }
{ printf "{ 0x%s, %s, %s, \"%s\" },\n", $1, $2 ~ /^[0-9]+$/ ? $2 : 0, $2 == "vf" ? "true" : "false", $3 }

# rdma-drivers.tsv to rows of struct rdma_driver (src/query/rdma-drivers.h).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 5 || $1 !~ /^(-|[a-z0-9_]+)$/ || $2 !~ /^[a-z0-9_]+$/ || $3 !~ /^[a-z0-9_]+$/ || $4 !~ /^(-|CONFIG_[A-Z0-9_]+)$/ ||
$5 !~ /^(-|[a-z0-9_]+\.[a-z]+\.(,[a-z0-9_]+\.[a-z]+\.)*)$/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
function text(s) { return s == "-" ? "NULL" : "\"" s "\"" }
{ printf "{ %s, \"%s\", \"%s\", %s, %s },\n", text($1), $2, $3, text($4), text($5) }

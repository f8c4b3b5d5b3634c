# nics.tsv to rows of struct nic_model (src/query/gpus.h).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 3 || $1 "" <= last {
	print FILENAME ":" FNR ": not a row of the table, or not in the order of ids" > "/dev/stderr"
	exit 1
}
{ last = $1 "" }
{ printf "{ 0x%s, %s, %s, \"%s\" },\n", $1, $2 ~ /^[0-9]+$/ ? $2 : 0, $2 == "vf" ? "true" : "false", $3 }

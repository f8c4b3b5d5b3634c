# host-messages.tsv to calls of HOST_MESSAGE (src/probes/log/log.c, src/rules/log-host.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 7 || $0 ~ /"|\\/ || $4 !~ /^(WARN|NOTE)$/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	start = $2 == "-" ? "NULL" : "\"" $2 "\""
	printf "HOST_MESSAGE(\"host-%s\", %s, \"%s\", %s, \"%s\", \"%s\")\n", $1, start, $3,
		$4 == "WARN" ? "true" : "false", $5, $6
}

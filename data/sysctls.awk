# sysctls.tsv to rows of struct sysctl_limit (src/rules/sysctl-table.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 7 || $1 !~ /^[a-z0-9._-]+$/ || $2 !~ /^[<>=]$/ || $3 !~ /^[0-9]+$/ || $4 !~ /^(warn|note)$/ ||
$5 !~ /^[0-9]+$/ || $6 == "" || $7 == "" {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	gsub(/[\\"]/, "\\\\&")
	printf "{ \"%s\", '%s', UINT64_C(%s), %s, \"%s\", \"%s\", \"%s\" },\n", $1, $2, $3,
		$4 == "warn" ? "SEVERITY_WARN" : "SEVERITY_INFO", $5, $6, $7
}

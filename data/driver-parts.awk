# driver-parts.tsv to rows of struct driver_part (src/query/driver-parts.h).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 7 || $1 !~ /^[a-z0-9-]+$/ || $2 !~ /^(equal|branch)$/ || $3 !~ /^(-|nvswitch)$/ || $4 !~ /^(warn|note)$/ ||
$5 == "" || $6 !~ /^[A-Z].*\.$/ || $7 == "" {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	gsub(/[\\"]/, "\\\\&")
	printf "{ \"%s\", \"%s.so\", %s, %s, %s, \"%s\", \"%s\", \"%s\" },\n", $1, $1,
		$2 == "equal" ? "true" : "false", $3 == "nvswitch" ? "true" : "false",
		$4 == "warn" ? "true" : "false", $5, $6, $7
}

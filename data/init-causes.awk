# init-causes.tsv to calls of INIT_CAUSE (src/probes/log/log.c, src/query/init-cause.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 9 || $0 ~ /"|\\/ || $3 !~ /^(admin|firmware|hardware|host)$/ || $4 !~ /^(setting|device)$/ ||
$8 !~ /^(reboot|-)$/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	guest = $7 == "-" ? "NULL" : "\"" $7 "\""
	printf "INIT_CAUSE(\"init-%s\", \"%s\", %s, %s, \"%s\", \"%s\", %s, %s)\n", $1, $2, toupper($3),
		$4 == "setting" ? "true" : "false", $5, $6, guest,
		$8 == "reboot" ? "THEN_REBOOT" : "0"
}

# kernel-needs.tsv to rows of struct kernel_need (src/query/kernel-needs.h).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 6 || $1 !~ /^(gb10|grace|mlx5|efa|enroot)$/ || $2 !~ /^CONFIG_[A-Z0-9_]+(,CONFIG_[A-Z0-9_]+)*$/ ||
$3 !~ /^(-|[a-z0-9_]+)$/ || $4 !~ /^(err|warn)$/ || $5 ~ /"/ || $6 ~ /"/ || $5 == "" || $6 == "" {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	printf "{ \"%s\", \"%s\", %s, %s, \"%s\", \"%s\" },\n", $1, $2, $3 == "-" ? "NULL" : "\"" $3 "\"",
		$4 == "err" ? "true" : "false", $5, $6
}

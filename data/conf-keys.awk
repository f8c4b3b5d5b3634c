# conf-keys.tsv to one array of texts for each format, and how many rows it has (src/parse/conf-keys.c).
BEGIN {
	FS = "\t"
	words(formats, "slurm gres cgroup docker toolkit containerd unit limits")
	words(types, "text flag u16 u32 u64 float line bool number list table texts flags tables any yes limit")
}
/^#/ { next }
NF != 6 || !($1 in formats) || $2 == "" || $3 == "" || $0 ~ /"/ { fail("not a row of the table") }
!($4 in types) && $4 !~ /^(=[a-z-]+|[{][a-z,]+[}])$/ { fail("no type: " $4) }
$5 !~ /^(-|[0-9.]+)$/ || $6 !~ /^(-|[0-9.]+)$/ { fail("not a release") }
($1, $2, $3) in seen { fail("the same key again") }
{
	seen[$1, $2, $3] = 1
	if ($1 != format) {
		if (($1, "") in seen)
			fail("the rows of a format stand together")
		seen[$1, ""] = 1
		order[++count] = format = $1
	}
	rows[format]++
	text[format] = text[format] string($2) string($3) string($4) optional($5) optional($6)
}
END {
	if (failed)
		exit 1
	for (i = 1; i <= count; i++)
		printf "static const char %s_keys[] =\n%s;\n#define %s_KEYS %d\n", order[i], text[order[i]],
			toupper(order[i]), rows[order[i]]
}

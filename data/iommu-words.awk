# iommu-words.tsv to calls of IOMMU_WORDS (src/probes/log/log.c, src/rules/iommu-refused.c).
BEGIN { FS = "\t" }
/^#/ { next }
NF != 7 || $0 ~ /"|\\/ || $4 !~ /^(ADMIN|FIRMWARE|HARDWARE)$/ {
	print FILENAME ":" FNR ": not a row of the table" > "/dev/stderr"
	exit 1
}
{
	start = $2 == "-" ? "NULL, KMSG_OF_DEVICE" : "\"" $2 "\", KMSG_ANY"
	printf "IOMMU_WORDS(\"iommu-%s\", %s, \"%s\", %s, \"%s\", \"%s\")\n", $1, start, $3, $4, $5, $6
}

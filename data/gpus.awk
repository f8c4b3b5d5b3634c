# gpus.tsv to rows of struct gpu_model (src/query/gpus.h).
BEGIN {
	FS = "\t"
	kind["data-centre"] = "GPU_DATA_CENTRE"; kind["workstation"] = "GPU_WORKSTATION"
	kind["geforce"] = "GPU_GEFORCE"; kind["integrated"] = "GPU_INTEGRATED"
	bar1["large"] = "GPU_BAR1_LARGE"; bar1["resizable"] = "GPU_BAR1_RESIZABLE"
	bar1["small"] = "GPU_BAR1_SMALL"; bar1["-"] = "GPU_BAR1_UNKNOWN"
}
/^#/ { next }
NF != 7 || !($3 in kind) || !($5 in bar1) || $1 "" <= last {
	print FILENAME ":" FNR ": not a row of the table, or not in the order of ids" > "/dev/stderr"
	exit 1
}
{
	last = $1 ""
	printf "{ 0x%s, \"%s\", %s, %s, %s, %s, \"%s\" },\n", $1, $2, kind[$3], \
	       $4 == "-" ? 0 : $4, bar1[$5], $6 == "-" ? 0 : $6, $7
}

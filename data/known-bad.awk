# known-bad.tsv to rows of struct row (src/query/known-bad.c), each with the place of its texts; with -v summary=1 to
# a text that counts the rows. With texts.awk.

# The keys in KEYS take no other values.
function allow(keys, values,    i, k, n, m, part, value)
{
	n = split(keys, part, " ")
	m = split(values, value, " ")
	for (i = 1; i <= n; i++)
		for (k = 1; k <= m; k++) {
			closed[part[i]] = 1
			allowed[part[i], value[k]] = 1
		}
}

BEGIN {
	FS = "\t"
	words(component, "driver nccl nvshmem deepep gdrcopy nvidia-fs nv-peer-mem ucx ofed rdma-core efa " \
	      "aws-ofi-nccl container-toolkit libnvidia-container enroot dkms kernel kernel.org")
	words(version, "driver nccl nvshmem deepep gdrcopy nvidia-fs nv-peer-mem ucx ofed rdma-core efa " \
	      "aws-ofi-nccl container-toolkit enroot dkms kernel cuda libnvidia-container containerd " \
	      "docker podman efa-installer")
	words(number, "gpus hca-count nic-functions nics-per-gpu pcie-gen")
	words(dotted, "cdi-version")
	words(pair, "env kernel-config param")
	words(word, "argument capability cgroup cpu-arch cpu-ibt cpu-vendor distro engine-config fixed " \
	      "flavour gid-hole gpu gpu-kind grh-required gsp-firmware imex-channel kind lane-rate link-layer mig " \
	      "module module-file nic nic-driver nic-p2p nic-vf no-carrier no-cgroups pci-nic product " \
	      "seccomp secure-boot service stack")
	allow("cpu-ibt gid-hole grh-required imex-channel nic-vf no-carrier no-cgroups secure-boot", "yes")
	allow("cgroup", "v2")
	allow("flavour", "open proprietary")
	allow("gpu-kind", "geforce workstation data-centre integrated")
	allow("gsp-firmware", "running")
	allow("kind", "mounted-image bare-metal virtual-machine container pod cloud efa vgpu-guest " \
	      "passthrough-guest vfio-host vgpu-host kubernetes dra compute-domains slurm job-node gb10 " \
	      "grace gh200 gb200-tray hgx pcie-server workstation")
	allow("link-layer", "InfiniBand Ethernet")
	allow("mig", "mixed")
	allow("seccomp", "disabled strict filter")
	allow("stack", "unlimited")
	words(architecture, "Kepler Maxwell Pascal Volta Turing Ampere Ada Hopper Blackwell")
	words(profile, "base p2p rdma gpudirect-rdma deepep")
	words(severity, "note warn err - data")
	words(range, "stated patch before feature last open")
	operator["="] = "IS"; operator["!="] = "IS_NOT"; operator["<"] = "BELOW"
	operator["<="] = "AT_MOST"; operator[">"] = "ABOVE"; operator[">="] = "AT_LEAST"
}

function is_version(text)
{
	return text ~ /^[0-9]+([.-][0-9]+)*$/
}

# As version_compare() has it.
function compare(a, b,    i, n, m, x, y)
{
	n = split(a, x, /[.-]/)
	m = split(b, y, /[.-]/)
	for (i = 1; i <= n || i <= m; i++)
		if (x[i] + 0 != y[i] + 0)
			return x[i] + 0 < y[i] + 0 ? -1 : 1
	return 0
}

function symbol(text)
{
	gsub(/[-.]/, "_", text)
	return toupper(text)
}

function check_value(key, op, value,    i, n, part)
{
	if (op !~ /^!?=$/ && !(key in version) && !(key in number) && !(key in dotted) && key != "gpu-arch")
		fail("condition " key " has no order")
	n = split(value, part, ",")
	for (i = 1; i <= n; i++) {
		if (part[i] == "")
			fail("condition " key " has an empty value")
		if ((key in version) && !is_version(part[i]) && part[i] != "none" && part[i] != "self")
			fail("condition " key ": \"" part[i] "\" is no version")
		if (((key in dotted) || key == "fixed") && !is_version(part[i]))
			fail("condition " key ": \"" part[i] "\" is no version")
		if ((key in number) && part[i] !~ /^[0-9]+$/)
			fail("condition " key ": \"" part[i] "\" is no number")
		if ((key in closed) && !((key, part[i]) in allowed))
			fail("condition " key " is never \"" part[i] "\"")
		if (key == "gpu-arch" && !(part[i] in architecture))
			fail("condition gpu-arch: no architecture \"" part[i] "\"")
	}
	if (n != 1 && op !~ /^!?=$/)
		fail("condition " key " has several values to compare with")
}

# "driver>=560" to its initializer, and its two texts.
function condition(text,    key, op, value, name, colon)
{
	if (!match(text, /^[a-z][a-z0-9-]*/))
		fail("condition \"" text "\" has no key")
	key = substr(text, 1, RLENGTH)
	value = substr(text, RLENGTH + 1)
	if (!match(value, /^(!=|<=|>=|=|<|>)/))
		fail("condition \"" text "\" has no operator")
	op = substr(value, 1, RLENGTH)
	value = substr(value, RLENGTH + 1)
	name = "-"
	if (key in pair) {
		colon = index(value, ":")
		if (colon < 2)
			fail("condition " key " is not of the form NAME:VALUE")
		name = substr(value, 1, colon - 1)
		value = substr(value, colon + 1)
	} else if (!(key in version) && !(key in number) && !(key in dotted) && !(key in word) && key != "gpu-arch") {
		fail("no condition is called \"" key "\"")
	}
	check_value(key, op, value)
	if (key in version) {
		name = key
		key = "version"
	}
	texts = texts optional(name) string(value)
	return "{ KEY_" symbol(key) ", VALUE_" operator[op] " }"
}

function conditions(text,    i, n, part, all)
{
	if (text == "-")
		return "{ { 0 } }"
	n = split(text, part, ";")
	if (n > 6)
		fail("more than 6 conditions")
	for (i = 1; i <= n; i++)
		all = all (i > 1 ? ", " : "") condition(part[i])
	return "{ " all " }"
}

function check_range(   i)
{
	for (i = 3; i <= 4; i++)
		if ($i != "-" && !is_version($i))
			fail("\"" $i "\" is no version")
	if ($3 != "-" && $4 != "-" && compare($3, $4) >= 0)
		fail("from " $3 " is not below to " $4)
	if ($8 == "before" ? $3 != "-" || $4 == "-" : $8 != "open" && ($3 == "-" || $4 == "-"))
		fail("a range that is \"" $8 "\" does not go from " $3 " to " $4)
	if (($8 == "feature" || $8 == "last") && ($7 == "err" || $10 !~ / (can|may) /))
		fail("a range that is \"" $8 "\" is at most a warning, and the effect says can or may")
}

/^#/ { next }
NF != 13 { fail("not a row of 13 columns") }
$1 !~ /^[a-z0-9-]+$/ || ($1 in seen) { fail("\"" $1 "\" is no id, or one that is there already") }
!($2 in component) { fail("no component is called \"" $2 "\"") }
!($6 in profile) { fail("no profile is called \"" $6 "\"") }
!($7 in severity) { fail("no severity is called \"" $7 "\"") }
!($8 in range) { fail("no range is called \"" $8 "\"") }
$9 !~ /^(-|[a-z]+\/[a-z0-9-]+)$/ || ($9 == "-") == ($7 == "-") {
	fail("either a severity or a rule says how grave it is")
}
$10 !~ /^[A-Za-z].*\.$/ || $11 !~ /^[A-Z].*\.$/ { fail("effect and cure are sentences") }
$12 == "" || $13 == "" { fail("no source, or not which state of it was read") }
/[^\t -~]/ { fail("a byte that is no printable ASCII") }
{
	check_range()
	seen[$1] = 1
	texts = ""
	if ($2 != order[components] && ($2 in count))
		fail("rows of " $2 " do not stand together")
	if (!count[$2]++)
		order[++components] = $2
	row[++rows] = "{ COMPONENT_" symbol($2) ", HITS_" symbol($6) ", DEFECT_" ($7 == "-" ? "ELSEWHERE" : symbol($7)) \
		      ", RANGE_" symbol($8) ", " conditions($5)
	text[rows] = optional($9) optional($3) optional($4) string($1) string($10) string($11) string($12) string($13) texts
}

END {
	if (failed)
		exit 1
	if (summary) {
		for (i = 1; i <= components; i++)
			all = all (i > 1 ? ", " : "") order[i] " " count[order[i]]
		print "\"" all "\""
		exit
	}
	print "#define ROWS " rows
	print "static const struct row rows[ROWS] = {"
	for (i = 1; i <= rows; i++) {
		print row[i] ", " (place + 0) " },"
		place += bytes(text[i])
	}
	print "};"
	print_texts("texts", text, rows)
}

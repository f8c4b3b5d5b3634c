# SPDX-License-Identifier: GPL-2.0-or-later
# facts.awk - nvnodecheck-facts(5) from the data model, in this order: its headers, whose comments say what
# each fact means; its descriptions, which say of what type it is and which file it comes from; and the
# page's frame, in which the line @FACTS@ stands for all of them. A fact without a word about it is
# an error.

# ---- headers: help["pci_device.bdf"], help["pci_device"] ----

function squeeze(text)
{
	gsub(/[ \t\n]+/, " ", text)
	sub(/^ /, "", text)
	sub(/ $/, "", text)
	return text
}

# The comment that LINE begins, over as many lines as it has, without its stars.
function comment(line,    text)
{
	text = line
	while (text !~ /\*\//) {
		if ((getline line) <= 0)
			break
		sub(/^[ \t]*\*( |$)/, " ", line)
		text = text " " line
	}
	sub(/^.*\/\*/, "", text)
	sub(/\*\/.*$/, "", text)
	return squeeze(text)
}

# "struct fact_str bdf;" and "LIST(struct pci_bar) bars;", perhaps with a comment behind.
function member(line,    declaration, name)
{
	declaration = line
	sub(/;.*/, "", declaration)
	name = declaration
	sub(/^.*[ \t)]/, "", name)
	if (line ~ /\/\*/)
		help[record "." name] = comment(line)
	else
		help[record "." name] = above
	above = ""
}

function header_line(line,    text, colon)
{
	if (line ~ /^\/\* ---- /) {
		text = comment(line)
		gsub(/ ?---- ?/, "", text)
		colon = index(text, ": ")
		if (colon)
			section_help[substr(text, 1, colon - 1)] = substr(text, colon + 2)
		above = ""
	} else if (line ~ /^[ \t]*\/\*/) {
		above = comment(line)
	} else if (line ~ /^struct [a-z_0-9]+ \{/) {
		record = line
		gsub(/^struct | \{.*/, "", record)
		help[record] = above
		above = ""
	} else if (line ~ /^};/) {
		record = ""
	} else if (record && line ~ /^\t(struct|LIST)/) {
		member(line)
	} else if (!record) {
		above = ""
	}
}

# ---- descriptions: the fields of each struct, in their order ----

# Macros for the beginnings of paths, then the strings that stand beside each other.
function path(text,    name)
{
	for (name in define)
		if (index(text, name) == 1)
			text = "\"" define[name] "\"" substr(text, length(name) + 1)
	if (text == "NULL")
		return ""
	gsub(/"[ \t]*"/, "", text)
	gsub(/"/, "", text)
	return text
}

function fields(text,    part, piece, key)
{
	count[record] = 0
	while (match(text, /F_[A-Z0-9]+\([^)]*\)/)) {
		part = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		split(part, piece, /[(),][ \t]*/)
		key = record "." piece[3]
		field[record, ++count[record]] = piece[3]
		type[key] = substr(piece[1], 3)
		if (type[key] ~ /^(ENUM|STRUCT|LIST)$/) {
			sub_of[key] = piece[4]
			sub(/_desc$/, "", sub_of[key])
			piece[4] = piece[5]
		}
		source[key] = path(piece[4])
	}
}

function define_line(line,    word, string)
{
	split(line, word, " ")
	split(line, string, "\"")
	define[word[2]] = string[2]
}

function words_line(line,    name, more)
{
	name = line
	gsub(/^const char \*const |\[\].*/, "", name)
	while (line !~ /};/ && (getline more) > 0)
		line = line " " more
	gsub(/^[^{]*\{|\[[A-Z0-9_]+\] = |,[ \t]*NULL.*$|"/, "", line)
	words[name] = squeeze(line)
}

function table_line(line,    text)
{
	record = line
	gsub(/^static const struct field |_fields\[\].*/, "", record)
	while ((getline line) > 0 && line !~ /^};/)
		text = text " " squeeze(line)
	fields(text)
}

function description_line(line,    name)
{
	name = line
	gsub(/^.*DESC\(|[,)].*/, "", name)
	ordered[name] = line ~ /\.ordered = true/
	optional[name] = line ~ /\.optional = true/
}

function source_line(line)
{
	if (line ~ /^#define [A-Z_]+ "/)
		define_line(line)
	else if (line ~ /^const char \*const [a-z_]+_words\[\]/)
		words_line(line)
	else if (line ~ /^static const struct field /)
		table_line(line)
	else if (line ~ /const struct desc [a-z_0-9]+ = DESC\(/)
		description_line(line)
}

# ---- the page ----

function unit_of(name)
{
	if (name ~ /_bytes$/)
		return "bytes"
	if (name ~ /mb_per_s$/)
		return "megabytes a second"
	if (name ~ /_ms$/)
		return "milliseconds"
	if (name ~ /_us$/)
		return "microseconds"
	if (name ~ /_s$/)
		return "seconds since 1970"
	if (name ~ /_mts$/)
		return "megatransfers a second"
	if (name ~ /_mbps$/)
		return "megabits a second"
	return ""
}

function type_text(key, name,    kind, unit)
{
	kind = type[key]
	unit = unit_of(name)
	if (kind == "BOOL")
		return "true or false"
	if (kind == "ENUM")
		return "one of " words[sub_of[key]]
	if (kind == "U64")
		return unit ? unit : "number"
	if (kind == "HEX")
		return "hexadecimal"
	if (kind == "LIMIT")
		return (unit ? unit : "number") ", or unlimited"
	if (kind == "STRS")
		return "list of texts"
	if (kind == "LIST")
		return ordered[sub_of[key]] ? "list, in order" : "list, sorted"
	if (kind == "STRUCT")
		return optional[sub_of[key]] ? "object, or null" : "object"
	return "text"
}

# A sentence a line; what is an escape or a request to roff is neither.
function prose(text)
{
	if (text !~ / /)
		return "For example\n.Ql " text " ."
	gsub(/\\/, "\\e", text)
	text = toupper_first(text)
	if (text !~ /[.:?!]$/)
		text = text "."
	while (match(text, /[A-Za-z0-9)]\. [A-Z]/))
		text = substr(text, 1, RSTART + 1) "\n" substr(text, RSTART + 3)
	return text
}

function toupper_first(text)
{
	return text ~ /^[a-z]+[ :]/ ? toupper(substr(text, 1, 1)) substr(text, 2) : text
}

# {0}, {1}, {0/} stand for the keys of the lists above: /sys/bus/pci/devices/BDF/vendor.
# A long path may be broken within.
function filled(text, keys,    key, i, n)
{
	n = split(keys, key, " ")
	for (i = 1; i <= n; i++)
		gsub("\\{" (i - 1) "/?\\}", toupper(key[i]), text)
	if (length(text) > PATH_LONG)
		gsub(/[-\/]/, "&\\:", text)
	return text
}

# What is said of a fact, and of the struct that it is or is a list of.
function about(key,    own, inner)
{
	own = help[key]
	sub(/^enum [a-z_]+(; )?/, "", own)
	inner = type[key] == "LIST" || type[key] == "STRUCT" ? help[sub_of[key]] : ""
	if (own != "")
		own = prose(own)
	if (inner != "")
		own = own (own != "" ? "\n" : "") prose(inner)
	if (own == "" && type[key] != "ENUM") {
		printf "nvnodecheck-facts(5): nothing is said of %s in its header\n", key >"/dev/stderr"
		failed = 1
	}
	return own
}

function put_fact(key, name, at, from, keys,    text)
{
	text = about(key)
	printf ".It Va %s Pq %s\n", at name, type_text(key, name)
	if (text != "")
		print text
	if (from ~ /^\//)
		printf ".br\n.Pa %s\n", filled(from, keys)
	else if (from != "")
		printf ".br\n%s.\n", toupper_first(filled(from, keys))
}

# All fields of a struct, and of what is in it, below the path AT. FROM is what was last said of where
# they come from. A struct that is in two places is written out in the first one.
function put_struct(name, at, from, keys,    i, key, part, inner, source_of, below)
{
	if (name in placed) {
		printf ".It Va %s*\nAs %s*.\n", at, placed[name]
		return
	}
	placed[name] = at
	for (i = 1; i <= count[name]; i++) {
		part = field[name, i]
		key = name "." part
		source_of = source[key] ? source[key] : from
		put_fact(key, part, at, source_of == from ? "" : source_of, keys)
		inner = sub_of[key]
		below = at part
		if (type[key] == "LIST")
			put_struct(inner, below "[].", source_of, keys " " field[inner, 1])
		else if (type[key] == "STRUCT")
			put_struct(inner, below ".", source_of, keys)
	}
}

# A section of the page: what is said of it, of its structs, and then its facts.
function put_section(name, key,    inner)
{
	printf ".Ss %s\n", name
	if (name in section_help)
		print prose(section_help[name])
	if (type[key] == "STRUCT" && help[sub_of[key]] != "")
		print prose(help[sub_of[key]])
	print ".Bl -tag -width Ds"
	if (type[key] == "LIST") {
		put_fact(key, name, "", source[key], "")
		put_struct(sub_of[key], name "[].", "", field[sub_of[key], 1])
	} else {
		put_struct(sub_of[key], name ".", "", "")
	}
	print ".El"
}

function put_sections(    i)
{
	for (i = 1; i <= count["node"]; i++)
		put_section(field["node", i], "node." field["node", i])
}

BEGIN { PATH_LONG = 40 }
FILENAME ~ /own-files\.h$/ { source_line($0); next }
FILENAME ~ /\.h$/ { header_line($0); next }
FILENAME ~ /\.c$/ { source_line($0); next }
$0 == "@FACTS@" { put_sections(); next }
{ print }
END { exit failed }

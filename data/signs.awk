# signs.tsv to the rows of src/why/sign.c, with texts.awk.
BEGIN {
	FS = "\t"
	words(signs, "error calm overcome good success bad progress idle hang fatal system request lost")
	words(forms, "any word begin level number start")
	most = 250 # error-line.c counts signs in a byte
}
/^#/ { next }
/[^\t -~]/ { fail("a byte that is no printable ASCII") }
NF != 4 || $4 == "" { fail("not a row of 4 columns") }
!($1 in signs) { fail("\"" $1 "\" is no sign") }
$1 != last && ($1 in first) { fail("the rows of \"" $1 "\" do not stand together") }
!($2 in forms) { fail("\"" $2 "\" is no form") }
length($3) < 2 { fail("\"" $3 "\" has fewer than 2 characters") }
$1 == "error" && length($3) < 4 { fail("\"" $3 "\" has fewer than 4 characters") }
($1, $3) in seen { fail("\"" $3 "\" is there already") }
{
	if ($1 != last)
		first[$1] = rows + 0
	last = $1
	seen[$1, $3] = 1
	if (++count[$1] > most)
		fail("more than " most " rows of \"" $1 "\"")
	form[++rows] = "SIGN_FORM_" toupper($2)
	text[rows] = string($3)
}

END {
	if (failed)
		exit 1
	print "#define SIGNS " rows
	print "#define ERROR_SIGNS " count["error"]
	print "static const uint8_t sign_forms[SIGNS] = {"
	for (row = 1; row <= rows; row++)
		print form[row] ","
	print "};"
	print "static const struct { uint16_t first, count; } sign_places[] = {"
	for (sign in signs)
		printf "[SIGN_%s] = { %d, %d },\n", toupper(sign), first[sign], count[sign]
	print "};"
	print_texts("sign_texts", text, rows)
}

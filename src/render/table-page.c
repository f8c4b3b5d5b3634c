/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table-page.c - a self-contained page of tables that sort by a click; the one with the id "facts" has a filter. */
#include "render/table-page.h"

#include <stdio.h>

#include "base/escape.h"

static const char page_title[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	"style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	"<title>nvnodecheck ";

static const char page_style[] =
	"</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}\n"
	"h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}\n"
	"input{font:inherit;padding:.4rem .6rem;width:100%;max-width:30rem;box-sizing:border-box}\n"
	"table{border-collapse:collapse;width:100%;margin-top:1rem}\n"
	"th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid #8884}\n"
	"th button{font:inherit;font-weight:600;background:none;border:0;padding:0;cursor:pointer;"
	"color:inherit}\n"
	"th[aria-sort=ascending] button::after{content:' \\25B2'}\n"
	"th[aria-sort=descending] button::after{content:' \\25BC'}\n"
	"td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"td.f,td.v{font-family:ui-monospace,monospace;overflow-wrap:anywhere}\n"
	"tr.most td{opacity:.65}\n</style></head><body>\n";

static const char page_script[] =
	"<script>\n"
	"document.querySelectorAll('table').forEach(table=>{\n"
	" const body=table.tBodies[0];\n"
	" table.querySelectorAll('th').forEach((th,i)=>th.firstChild.onclick=()=>{\n"
	"  const up=th.getAttribute('aria-sort')!=='ascending';\n"
	"  table.querySelectorAll('th').forEach(o=>o.removeAttribute('aria-sort'));\n"
	"  th.setAttribute('aria-sort',up?'ascending':'descending');\n"
	"  const key=r=>r.cells[i].textContent,number=th.className==='n';\n"
	"  [...body.rows].sort((a,b)=>(up?1:-1)*(number?key(a)-key(b):"
	"key(a).localeCompare(key(b),undefined,{numeric:true})))\n"
	"   .forEach(r=>body.append(r));\n"
	" });\n"
	"});\n"
	"document.getElementById('filter').oninput=e=>{\n"
	" const words=e.target.value.toLowerCase().split(/\\s+/);\n"
	" let shown=0;\n"
	" for(const r of document.querySelector('#facts').tBodies[0].rows){\n"
	"  const text=r.textContent.toLowerCase();\n"
	"  r.hidden=!words.every(w=>text.includes(w));\n"
	"  shown+=!r.hidden;\n"
	" }\n"
	" document.getElementById('shown').textContent=shown+(shown==1?' row':' rows');\n"
	"};\n"
	"</script>\n</body></html>\n";

void table_page_begin(const char *command)
{
	fputs(page_title, stdout);
	escape_text(stdout, SINK_XML, command);
	fputs(page_style, stdout);
	fputs("<h1>", stdout);
}

void table_page_filter(const char *examples)
{
	escape_printf(
		stdout, SINK_XML,
		"</h1>\n<label for=\"filter\">Filter: words that a row must have</label><br>\n"
		"<input id=\"filter\" type=\"search\" placeholder=\"%s\"> "
		"<span id=\"shown\" aria-live=\"polite\"></span>\n",
		examples);
}

void table_page_end(void)
{
	fputs(page_script, stdout);
}

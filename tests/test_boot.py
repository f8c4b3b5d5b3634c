# SPDX-License-Identifier: GPL-2.0-or-later
"""What boots next: GRUB's menu in its forms, systemd-boot, unified kernel images; and the files that
command lines are made from."""

import shutil
import subprocess

import pytest

from lib.images import archive, compress, cpio, entry, folder
from test_initramfs import pe_file
from lib.trees import KERNEL, facts, link, new_tree, run, write

OLD = "6.1.0-9-amd64"

HEADER = """\
if [ -s $prefix/grubenv ]; then
  set have_grubenv=true
  load_env
fi
if [ "${initrdfail}" = 2 ]; then
   set initrdfail=
elif [ "${initrdfail}" = 1 ]; then
   set next_entry="${prev_entry}"
fi
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
else
   set default="DEFAULT"
fi
if [ x"${feature_menuentry_id}" = xy ]; then
  menuentry_id_option="--id"
else
  menuentry_id_option=""
fi
export menuentry_id_option
function recordfail {
  set recordfail=1
  if [ -n "${have_grubenv}" ]; then if [ -z "${boot_once}" ]; then save_env recordfail; fi; fi
}
function gfxmode {
	set gfxpayload="${1}"
	if [ "${1}" = "keep" ]; then
		set vt_handoff=vt.handoff=7
	fi
}
"""

ENTRY = """\
{i}menuentry 'Linux {title}' --class debian --class gnu-linux $menuentry_id_option '{id}' {{
{i}	recordfail
{i}	insmod gzio
{i}	if [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
{i}	if [ x$feature_platform_search_hint = xy ]; then
{i}	  search --no-floppy --fs-uuid --set=root --hint-bios=hd0,gpt2  1234
{i}	else
{i}	  search --no-floppy --fs-uuid --set=root 1234
{i}	fi
{i}	echo	'Loading Linux {kernel} ...'
{i}	linux	{boot}/vmlinuz-{kernel} root=UUID=1234 ro {args} $vt_handoff
{i}	initrd	{boot}/initrd.img-{kernel}
{i}}}
"""


def grub_entry(kernel, id, args="quiet", title=None, boot="/boot", indent=""):
    return ENTRY.format(kernel=kernel, id=id, args=args, title=title or kernel, boot=boot, i=indent)


def grub_cfg(default="0", boot="/boot"):
    """Shaped as grub-mkconfig of Debian and Ubuntu writes it: the newest kernel, then all of them in a
    submenu."""
    text = HEADER.replace("DEFAULT", default)
    text += grub_entry(KERNEL, "simple", title="newest", boot=boot)
    text += "submenu 'Advanced options' $menuentry_id_option 'advanced' {\n"
    for kernel in (KERNEL, OLD):
        text += grub_entry(kernel, f"gnu-{kernel}-advanced", "iommu=pt", boot=boot, indent="\t")
        text += grub_entry(kernel, f"gnu-{kernel}-recovery", "single", f"{kernel} (recovery mode)",
                           boot, "\t")
    text += "}\n"
    text += ('if [ "$grub_platform" = "efi" ]; then\n'
             "\tmenuentry 'UEFI Firmware Settings' $menuentry_id_option 'uefi-firmware' {\n"
             "\t\tfwsetup\n\t}\nfi\n")
    return text


def grubenv(**variables):
    text = "# GRUB Environment Block\n" + "".join(f"{k}={v}\n" for k, v in variables.items())
    return text.ljust(1024, "#")


def grub_tree(path, text, env=None, folder_name="grub"):
    root = new_tree(path)
    write(root / f"boot/{folder_name}/grub.cfg", text)
    if env is not None:
        write(root / f"boot/{folder_name}/grubenv", env)
    for kernel in (KERNEL, OLD):
        write(root / f"boot/vmlinuz-{kernel}", "")
        write(root / f"boot/initrd.img-{kernel}", archive(entry("init")))
    return root


# ---- GRUB ----

def test_default_entry(tmp_path):
    found = facts(grub_tree(tmp_path, grub_cfg()))
    boot = found["boot"]
    assert boot["loader"] == "grub"
    assert [e["id"] for e in boot["entries"]] == [
        "simple", f"advanced>gnu-{KERNEL}-advanced", f"advanced>gnu-{KERNEL}-recovery",
        f"advanced>gnu-{OLD}-advanced", f"advanced>gnu-{OLD}-recovery"]
    assert boot["next_entry"] == "simple"
    assert boot["next_kernel"] == KERNEL
    assert boot["next_initrd"] == f"/boot/initrd.img-{KERNEL}"
    staged = found["cmdline"]["staged"]
    text = grub_cfg().splitlines()
    assert staged["text"] == "root=UUID=1234 ro quiet"
    assert staged["kernel"] == KERNEL and staged["file"] == "/boot/grub/grub.cfg"
    assert text[staged["line"] - 1].strip().startswith("linux")


@pytest.mark.parametrize("default,expected", [
    ("0", "simple"), ("1", f"advanced>gnu-{KERNEL}-advanced"), ("1>0", f"advanced>gnu-{KERNEL}-advanced"),
    ("1>2", f"advanced>gnu-{OLD}-advanced"), ("1>9", f"advanced>gnu-{KERNEL}-advanced"), ("9", "simple"),
    ("simple", "simple"), ("advanced", f"advanced>gnu-{KERNEL}-advanced"),
    (f"advanced>gnu-{OLD}-advanced", f"advanced>gnu-{OLD}-advanced"),
    (f"Advanced options>Linux {OLD}", f"advanced>gnu-{OLD}-advanced"),
    (f"1>Linux {OLD} (recovery mode)", f"advanced>gnu-{OLD}-recovery"),
    # A number is a number, whatever follows it.
    ("1x", f"advanced>gnu-{KERNEL}-advanced"), (f"advanced>2{OLD}", f"advanced>gnu-{KERNEL}-advanced"),
    (f"gnu-{OLD}-advanced", "simple"), ("nothing such", "simple"), ("", "simple"),
])
@pytest.mark.parametrize("how", ["written", "saved", "next"])
def test_forms_of_default(tmp_path, default, expected, how):
    if how == "written":
        root = grub_tree(tmp_path, grub_cfg(default))
    elif how == "saved":
        root = grub_tree(tmp_path, grub_cfg("${saved_entry}"), grubenv(saved_entry=default))
    else:
        root = grub_tree(tmp_path, grub_cfg("1>3"), grubenv(next_entry=default, saved_entry="1>3"))
        expected = expected if default else f"advanced>gnu-{OLD}-recovery"
    assert facts(root, "boot")["next_entry"] == expected


def test_next_kernel_is_another_one(tmp_path):
    root = grub_tree(tmp_path, grub_cfg("1>2"))
    found = facts(root)
    assert found["boot"]["next_kernel"] == OLD
    assert found["cmdline"]["staged"]["text"] == "root=UUID=1234 ro iommu=pt"
    images = {i["kernel"]: (i["running"], i["next"]) for i in found["initramfs"]["images"]}
    assert images == {KERNEL: (True, False), OLD: (False, True)}


def test_boot_on_its_own_partition(tmp_path):
    found = facts(grub_tree(tmp_path, grub_cfg(boot="")), "boot")
    assert found["next_initrd"] == f"/boot/initrd.img-{KERNEL}"
    root = grub_tree(tmp_path / "btrfs", grub_cfg(boot="/@/boot"))
    assert facts(root, "boot")["next_initrd"] == f"/boot/initrd.img-{KERNEL}"
    root = grub_tree(tmp_path / "device", grub_cfg(boot="(hd0,gpt2)/boot"))
    assert facts(root, "boot")["next_initrd"] == f"/boot/initrd.img-{KERNEL}"


def test_microcode_comes_first(tmp_path):
    text = grub_cfg().replace("initrd\t/boot", "initrd /boot/amd-ucode.img /boot")
    assert facts(grub_tree(tmp_path, text), "boot")["next_initrd"] == f"/boot/initrd.img-{KERNEL}"


def test_no_initrd(tmp_path):
    text = "\n".join(line for line in grub_cfg().splitlines() if "initrd\t" not in line)
    assert facts(grub_tree(tmp_path, text), "boot")["next_initrd"] is None


@pytest.mark.parametrize("written,seen", [
    ('a.b="x y" c', '"a.b=x y" c'),
    ("'a b'", '"a b"'),
    ("a=\\\"b\\\"", 'a=\\"b\\"'),
    ("a='\"b c\"'", '"a=\\"b c\\""'),
    ("a\\ b", '"a b"'),
    ("a;b", "a"),
    ("a=b\\;c", "a=b;c"),
    ("$unset a ${unset}b '' c", "a b  c"),
    ("a=\"$x\" $y", "a="),
    ("a # comment", "a"),
    ("a#b", "a#b"),
    ("a\\x41b 'c\\x41'", "ax41b c\\x41"),
])
def test_quotes_in_the_script(tmp_path, written, seen):
    """GRUB takes the quotes off and puts its own on."""
    root = grub_tree(tmp_path, "menuentry 'x' {\n\tlinux /boot/vmlinuz-6.1 " + written + "\n}\n")
    assert facts(root, "boot.entries")[0]["cmdline"] == seen


def test_variables(tmp_path):
    text = ("load_env\nset a=1\nset b=\"two words\"\nc=\"$a-${b}\"\n"
            "if [ -z \"${kernelopts}\" ]; then\n  set kernelopts=\"root=/dev/x ro\"\nfi\n"
            "if [ \"${a}\" = 2 ]; then\n  set d=wrong\nelif [ $a != 1 ]; then\n  set d=wrong\n"
            "else\n  set d=right\nfi\n"
            "if ! [ -n \"$d\" ]; then set d=wrong; fi\n"
            "function f {\n  set a=7\n}\n"
            "menuentry x --id=y { linux /boot/vmlinuz-6.1 $kernelopts \"$c\" $b $d\n}\n")
    for env, first in ((None, "root=/dev/x ro"), (grubenv(kernelopts="root=/dev/y rw"), "root=/dev/y rw")):
        root = grub_tree(tmp_path / str(env is None), text, env)
        found = facts(root, "boot.entries")[0]
        assert found["cmdline"] == f'{first} "1-two words" two words right'
        assert found["id"] == "y"


def test_an_entry_knows_its_own_ids(tmp_path):
    """With '>' between those of the levels, so one in an id is doubled (GRUB: grub_menu_execute_entry())."""
    menu = (f"menuentry x --id 'a>b' {{\nlinux /boot/vmlinuz-{KERNEL} a=$chosen\n"
            f"initrd /boot/initrd.img-{KERNEL}\n}}\n")
    root = grub_tree(tmp_path, "set default='up>a>>b'\nsubmenu s --id up {\n%s}\n%s" % (menu, menu))
    assert facts(root, "cmdline.staged.text") == "a=up>a>>b"
    write(root / "boot/grub/grub.cfg", "set default='a>>b'\n" + menu)
    assert facts(root, "cmdline.staged.text") == "a=a>>b"


def test_chosen_entry_starts_no_linux(tmp_path):
    root = grub_tree(tmp_path, grub_cfg("uefi-firmware"))
    for why in ("depends on what only GRUB knows", "no Linux kernel"):
        found = facts(root)
        assert "next_kernel" not in found["boot"] and "staged" not in found["cmdline"]
        assert len(found["boot"]["entries"]) == 5
        assert any(why in g["why"] for g in found["gaps"])
        (root / "sys/firmware/efi").mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize("place", ["boot/grub2", "boot/efi/EFI/redhat"])
def test_places_of_grub_cfg(tmp_path, place):
    root = new_tree(tmp_path)
    write(root / place / "grub.cfg", grub_cfg("${saved_entry}"))
    write(root / place / "grubenv", grubenv(saved_entry="1>2"))
    assert facts(root, "boot.next_kernel") == OLD


def test_too_many_entries(tmp_path):
    text = "".join(f"menuentry '{i}' {{\n linux /boot/vmlinuz-6.{i}\n}}\n" for i in range(300))
    found = facts(grub_tree(tmp_path, text))
    assert found["boot"]["loader"] == "grub" and "entries" not in found["boot"]
    assert any("too many entries" in g["why"] for g in found["gaps"])


def test_script_that_never_closes(tmp_path):
    for text in ("menuentry 'x' {\n linux /boot/vmlinuz-6.1 a", "submenu x {\nmenuentry y { linux /boot/vmlinuz-6.1",
                 "menuentry 'x", "function f {", "if [ a ]; then\n", "}\n}\nmenuentry x { linux /boot/vmlinuz-6.1\n}",
                 "set default=\"${", "$", "\\", "\"\\", "{", "menuentry {", "menuentry { }"):
        facts(grub_tree(tmp_path / str(abs(hash(text))), text), "boot.loader")


# ---- GRUB with entries in files (blscfg) ----

MACHINE = "0123456789abcdef0123456789abcdef"


def bls_entry(version, options="$kernelopts $tuned_params", extra=""):
    return (f"title Red Hat Enterprise Linux ({version}) 9\nversion {version}\n"
            f"linux /vmlinuz-{version}\ninitrd /initramfs-{version}.img $tuned_initrd\n"
            f"options {options}\ngrub_users $grub_users\ngrub_class kernel\n{extra}")


def bls_tree(path, versions, env, default="${saved_entry}", options="$kernelopts $tuned_params"):
    text = HEADER.replace("DEFAULT", default) + 'set tuned_params="isolcpus=2-8"\ninsmod blscfg\nblscfg\n'
    root = new_tree(path)
    write(root / "boot/grub2/grub.cfg", text + grub_entry("5.0", "custom"))
    write(root / "boot/grub2/grubenv", env)
    for version in versions:
        write(root / f"boot/loader/entries/{MACHINE}-{version}.conf", bls_entry(version, options))
        write(root / f"boot/initramfs-{version}.img", "")
        write(root / f"boot/vmlinuz-{version}", "")
    write(root / f"boot/loader/entries/{MACHINE}-0-rescue.conf",
          "title Rescue\nversion 0-rescue\nlinux /vmlinuz-0-rescue\ninitrd /initramfs-0-rescue.img\n"
          "options root=/dev/x\n")
    return root


RHEL = ["5.14.0-427.13.1.el9_4.x86_64", "5.14.0-70.el9.x86_64", "5.14.0-503.11.1.el9_5.x86_64",
        "5.14.0-427.9.1.el9_4.x86_64"]


def test_order_of_files_with_entries(tmp_path):
    root = bls_tree(tmp_path, RHEL, grubenv(kernelopts="root=/dev/x ro"))
    found = facts(root)
    boot = found["boot"]
    assert boot["loader"] == "grub-bls"
    assert [e["kernel"] for e in boot["entries"]] == [RHEL[2], RHEL[0], RHEL[3], RHEL[1], "0-rescue", "5.0"]
    assert boot["next_kernel"] == RHEL[2]
    assert found["cmdline"]["staged"] == {
        "kernel": RHEL[2], "variable": None, "text": "root=/dev/x ro isolcpus=2-8",
        "file": f"/boot/loader/entries/{MACHINE}-{RHEL[2]}.conf", "line": None}


@pytest.mark.parametrize("older,newer", [("5.14", "5.14+b"), ("5.14+b", "5.14aa"), ("5.14+1", "5.14.1"), ("5.14+b", "5.14+c")])
def test_a_plus_in_a_version(tmp_path, older, newer):
    for first, second in ((older, newer), (newer, older)):
        root = bls_tree(tmp_path / first, [first + "-1.x86_64", second + "-1.x86_64"], grubenv(kernelopts="ro"))
        assert facts(root, "boot.next_kernel") == newer + "-1.x86_64"


def test_other_files_are_no_entries(tmp_path):
    root = bls_tree(tmp_path, RHEL[:1], grubenv(kernelopts="ro"))
    before = facts(root, "boot.entries")
    for name in (".hidden.conf", ".conf", "old", "notes"):
        write(root / "boot/loader/entries" / name, bls_entry("9.9"))
    assert facts(root, "boot.entries") == before


@pytest.mark.parametrize("saved,kernel", [
    (f"{MACHINE}-{RHEL[1]}", RHEL[1]), ("1", RHEL[0]), ("4", "0-rescue"), ("custom", "5.0"),
    ("5", "5.0"), (f"Red Hat Enterprise Linux ({RHEL[3]}) 9", RHEL[3]), ("gone", RHEL[2]),
])
def test_saved_entry_of_files(tmp_path, saved, kernel):
    root = bls_tree(tmp_path, RHEL, grubenv(kernelopts="root=/dev/x ro", saved_entry=saved))
    assert facts(root, "boot.next_kernel") == kernel


def test_options_in_each_entry(tmp_path):
    """RHEL 9: no kernelopts; what is in the file counts."""
    root = bls_tree(tmp_path, RHEL[:1], grubenv(), options="root=/dev/y ro crashkernel=1G $tuned_params")
    assert facts(root, "cmdline.staged.text") == "root=/dev/y ro crashkernel=1G isolcpus=2-8"


def test_entry_without_options(tmp_path):
    root = bls_tree(tmp_path, [], grubenv(default_kernelopts="root=/dev/z"))
    write(root / f"boot/loader/entries/{MACHINE}-9.conf", "title x\nlinux /vmlinuz-9\n\noptions lost\n")
    assert facts(root, "cmdline.staged.text") == "root=/dev/z"


@pytest.mark.parametrize("tuned,boot", [("", ""), ("($root)/tuned-initrd.img", ""), ("", "/boot"),
                                        ("/boot/tuned-initrd.img", "/boot")])
def test_initrd_of_an_entry_with_a_variable(tmp_path, tuned, boot):
    """tuned has an image of its own in it, or nothing; the kernel's image comes first."""
    root = bls_tree(tmp_path, RHEL[:2], grubenv(kernelopts="root=/dev/x ro", tuned_initrd=tuned,
                                                early_initrd="" if boot else "/ucode.img"))
    for path in (root / "boot/loader/entries").iterdir():
        path.write_text(path.read_text().replace(" /vm", f" {boot}/vm").replace(" /init", f" {boot}/init"))
    found = facts(root)
    assert found["boot"]["next_initrd"] == f"/boot/initramfs-{RHEL[0]}.img"
    assert [i["kernel"] for i in found["initramfs"]["images"] if i["next"]] == [RHEL[0]]


def test_entries_of_grub_without_its_menu(tmp_path):
    """RHEL lets only root look into /boot/grub2, and a copy made by somebody else lacks it."""
    root = bls_tree(tmp_path, RHEL, grubenv())
    shutil.rmtree(root / "boot/grub2")
    found = facts(root)
    assert found["boot"]["loader"] == "grub-bls" and "next_initrd" not in found["boot"]
    assert any("entries of GRUB" in g["why"] for g in found["gaps"])


FALLBACK = """\
insmod increment
# Check if boot_counter exists and boot_success=0 to activate this behaviour.
if [ -n "${boot_counter}" -a "${boot_success}" = "0" ]; then
  # if countdown has ended, choose to boot rollback deployment
  if  [ "${boot_counter}" = "0" -o "${boot_counter}" = "-1" ]; then
    set default=1
    set boot_counter=-1
  else
    decrement boot_counter
  fi
  save_env boot_counter
fi
"""


@pytest.mark.parametrize("env,index", [
    ({}, 0), ({"boot_success": "0"}, 0), ({"boot_success": "1", "boot_counter": "0"}, 0),
    ({"boot_success": "0", "boot_counter": "2"}, 0), ({"boot_success": "0", "boot_counter": "0"}, 1),
    ({"boot_success": "0", "boot_counter": "-1"}, 1)])
def test_boots_that_are_counted(tmp_path, env, index):
    """/etc/grub.d/08_fallback_counting, in every menu of RHEL and its like."""
    root = bls_tree(tmp_path, RHEL, grubenv(kernelopts="root=/dev/x ro", **env))
    path = root / "boot/grub2/grub.cfg"
    path.write_text(path.read_text().replace("insmod blscfg", FALLBACK + "insmod blscfg"))
    assert facts(root, "boot.next_kernel") == [RHEL[2], RHEL[0]][index]


# ---- what a script can do ----

def staged(tmp_path, text, env=None, **files):
    root = grub_tree(tmp_path, text, env)
    for name, content in files.items():
        write(root / "boot/grub" / name.replace("_", "."), content)
    return facts(root, "cmdline").get("staged", {}).get("text", "unknown")


@pytest.mark.parametrize("test,yes", [
    ("-n a -a b = b", True), ("-n '' -a b = b", False), ("-z '' -a b = c -o x", True),
    ("a = b -o b = c", False), ("! a = b", True), ("! a = b -a ! -z x", True), ("( a = b -o c = c ) -a -n ''", False),
    ("a != a b", False), ("a \\< b", True), ("10 -lt 9", False), ("0x10 -eq 16", True), ("010 -eq 8", True),
    ("vmlinuz-9 -plt vmlinuz-10", True), ("12 -plt 15", True), ("-f $prefix/grub.cfg", True),
    ("-f $prefix/other.cfg", False), ("-d $prefix", True), ("-s $prefix/empty", False), ("-e $prefix/empty", True),
    ("", True),
])
def test_conditions(tmp_path, test, yes):
    text = f"if [ {test} ]; then\n set a=yes\nelse\n set a=no\nfi\nmenuentry x {{\n linux /boot/vmlinuz-1 $a\n}}\n"
    assert staged(tmp_path, text, empty="") == ("yes" if yes else "no")


def test_what_only_grub_knows(tmp_path):
    """Both branches count: what they agree on is known."""
    text = ("if [ \"$grub_platform\" = efi ]; then\n set a=1\n set b=1\nelse\n set a=1\n set b=2\nfi\n"
            "search --set=root --label x\nregexp --set=1:c '(.*)' y\n"
            "menuentry x { linux ($root)/boot/vmlinuz-1 $a %s\n}\n")
    assert staged(tmp_path / "1", text % "") == "1"
    for i, word in enumerate(("$b", "$root", "$c", "x$c")):
        assert staged(tmp_path / f"a{i}", text % word) == "unknown"


@pytest.mark.parametrize("test,seen", [
    ("-n ${u}= -o x = x", "unknown"), ("-n ${u} -o x = x", "unknown"), ("x${u} = y -o x = x", "yes"),
    ("-n x${u} -a x = y", "no"), ("-n !${u} -o x = x", "unknown"), ("${u} = x -o x = x", "yes"),
])
def test_a_word_that_may_be_an_operator(tmp_path, test, seen):
    """commands/test.c looks at the word behind this one first: "-n =" is no test of a word, if another follows."""
    text = f"probe --set=u x\nif [ {test} ]; then\n set a=yes\nelse\n set a=no\nfi\nmenuentry x {{\n linux /boot/vmlinuz-1 $a\n}}\n"
    assert staged(tmp_path, text) == seen


def test_custom_cfg(tmp_path):
    """/etc/grub.d/41_custom; SUSE and older GRUB read it from the prefix."""
    text = ("menuentry a --id a { linux /boot/vmlinuz-1 a\n}\n"
            "if [ -f  ${config_directory}/custom.cfg ]; then\n  source ${config_directory}/custom.cfg\n"
            "elif [ -z \"${config_directory}\" -a -f  $prefix/custom.cfg ]; then\n  source $prefix/custom.cfg\nfi\n")
    custom = "set default=b\nmenuentry b --id b { linux /boot/vmlinuz-2 b\n}\n"
    assert staged(tmp_path / "without", text) == "a"
    root = grub_tree(tmp_path / "with", text)
    write(root / "boot/grub/custom.cfg", custom)
    found = facts(root, "cmdline.staged")
    assert (found["text"], found["file"], found["line"]) == ("b", "/boot/grub/custom.cfg", 2)
    write(root / "boot/grub/custom.cfg", "if\n")
    assert "staged" not in facts(root, "cmdline")
    write(root / "boot/grub/custom.cfg", "source $prefix/custom.cfg\n")
    assert "staged" not in facts(root, "cmdline")


@pytest.mark.parametrize("before,inside,seen", [
    ("for i in a b 'c d'; do\n set all=\"$all,$i\"\ndone\n", "\"$all\" $all", '",a,b,c d" ,a,b,c d'),
    ("function f {\n set c=\"$1\"\n shift\n set b=\"$#-$1\"\n return\n set a=no\n}\nf 'x y' z\n", '"$c" $b',
     '"x y" 1-z'),
    ("set i=0\nwhile [ $i != 000 ]; do\n set i=0$i\n if [ $i = 00 ]; then continue; fi\n set last=$i\ndone\n",
     "$last", "000"),
    ("function f {\n if [ $1 = on ]; then\n  set v=vt.handoff=7\n else\n  set v=\n fi\n}\n", "$v\n f on", ""),
    ("set a=early\n", "$a", "late"),
    ("eval \"set a='x y'\"\n", "\"q \\\"$a\\\" \\$a\"", '"q \\"late\\" $a"'),
    ("", "$1 $@", "t 1 t 1 p"),
])
def test_what_is_carried_out(tmp_path, before, inside, seen):
    """An entry is carried out after the whole menu, with its words as arguments."""
    text = before + f"menuentry 't 1' p {{\n linux /boot/vmlinuz-1 {inside}\n}}\nset a=late\n"
    assert staged(tmp_path, text) == seen


def test_set_in_an_entry(tmp_path):
    text = ("set a=outer\nmenuentry x {\n set a=inner\n set b=$a\n if true; then\n linux /boot/vmlinuz-1 $a $b\n"
            "fi\n}\nmenuentry y --id y {\n linux /boot/vmlinuz-1 $a $b\n}\n")
    root = grub_tree(tmp_path, text)
    assert [e["cmdline"] for e in facts(root, "boot.entries")] == ["inner inner", "outer"]


def test_the_last_variable_of_the_environment(tmp_path):
    """The block ends where its last line does."""
    env = "# GRUB Environment Block\n# more\n" + "".join("%s=%s\n" % (c, c) for c in "bcda")
    assert staged(tmp_path, "load_env\nmenuentry x { linux /boot/vmlinuz-1 $a$b$d\n}\n", env) == "abd"


@pytest.mark.parametrize("before,seen", [
    ("set a=x\n", ""),
    ("set a=x\nexport a\n", "x"),
    ("export a\nset a=x\n", "x"),
    ("export a\nunset a\nset a=x\n", ""),
    ("set a=x\nif unknown_command; then export a; fi\n", "unknown"),
    ("set a=x\nexport a\nif unknown_command; then set a=x; fi\n", "x"),
    ("export a\nif unknown_command; then unset a; else unset a; fi\nset a=x\n", ""),
])
def test_what_a_submenu_has(tmp_path, before, seen):
    """grub-core/kern/env.c: a variable that is unset loses its export."""
    text = before + "submenu s {\nmenuentry t { linux /boot/vmlinuz-1 $a\n}\n}\nset default='s>t'\n"
    assert staged(tmp_path, text) == seen


def test_a_script_without_an_end(tmp_path):
    for i, text in enumerate(("while true; do\ntrue\ndone\n", "function f {\nf\n}\nf\n", "set a=x\n" + "set a=$a$a\n" * 40)):
        assert staged(tmp_path / str(i), text + "menuentry x { linux /boot/vmlinuz-1\n}\n") == "unknown"


# ---- systemd-boot ----

def sd_tree(path, base="boot", conf=None):
    root = new_tree(path)
    if conf is not None:
        write(root / base / "loader/loader.conf", conf)
    for version in (KERNEL, OLD):
        write(root / base / f"loader/entries/token-{version}.conf",
              f"# made by kernel-install\ntitle      Debian\nversion    {version}\nmachine-id {MACHINE}\n"
              f"sort-key   debian\noptions    root=UUID=1 \noptions iommu=pt nvidia.x=\"a b\"\n"
              f"linux      /token/{version}/linux\ninitrd /ucode.img\ninitrd     /token/{version}/initrd.img\n")
        write(root / base / f"token/{version}/initrd.img", archive(entry("init")))
    return root


@pytest.mark.parametrize("base", ["boot", "efi", "boot/efi"])
def test_systemd_boot(tmp_path, base):
    found = facts(sd_tree(tmp_path, base, "timeout 3\n"))
    assert found["boot"]["loader"] == "systemd-boot"
    assert [e["id"] for e in found["boot"]["entries"]] == [f"token-{KERNEL}.conf", f"token-{OLD}.conf"]
    assert found["boot"]["next_kernel"] == KERNEL
    assert found["boot"]["next_initrd"] == f"/{base}/token/{KERNEL}/initrd.img"
    assert found["cmdline"]["staged"]["text"] == 'root=UUID=1 iommu=pt nvidia.x="a b"'
    assert found["cmdline"]["staged"]["file"] == f"/{base}/loader/entries/token-{KERNEL}.conf"
    assert found["initramfs"]["images"][0]["running"] and found["initramfs"]["images"][0]["next"]


@pytest.mark.parametrize("default,kernel", [
    (f"token-{OLD}.conf", OLD), (f"*{OLD}*", OLD), ("TOKEN-*", KERNEL), ("nothing-*", KERNEL),
    (f"token-{OLD}", KERNEL), ("*-9-*", OLD)])
def test_default_of_systemd_boot(tmp_path, default, kernel):
    root = sd_tree(tmp_path, conf=f"timeout 3\ndefault {default}\n")
    assert facts(root, "boot.next_kernel") == kernel


def test_other_files_are_no_entries_of_systemd_boot(tmp_path):
    root = sd_tree(tmp_path)
    before = facts(root, "boot.entries")
    for name in (".hidden.conf", ".conf", "old", "notes", "README.md"):
        write(root / "boot/loader/entries" / name, "title x\nlinux /x\n")
    assert facts(root, "boot.entries") == before
    alone = new_tree(tmp_path / "alone")
    write(alone / "boot/loader/entries/notes", "title x\nlinux /x\n")
    assert "boot" not in facts(alone)


def efi_variable(root, name, text):
    write(root / f"sys/firmware/efi/efivars/{name}-4a67b082-0a4c-41cf-b6c7-440b29bb8c4f",
          b"\x06\0\0\0" + (text + "\0").encode("utf-16-le"))


def test_variables_of_the_loader(tmp_path):
    root = sd_tree(tmp_path, conf=f"default token-{KERNEL}.conf\n")
    write(root / "boot/grub/grub.cfg", grub_cfg())
    assert facts(root, "boot.loader") == "grub"
    efi_variable(root, "LoaderInfo", "systemd-boot 257.8")
    assert facts(root, "boot")["next_entry"] == f"token-{KERNEL}.conf"
    efi_variable(root, "LoaderEntryDefault", f"token-{OLD}.conf")
    assert facts(root, "boot")["next_entry"] == f"token-{OLD}.conf"
    efi_variable(root, "LoaderEntryOneShot", f"token-{KERNEL}.conf")
    assert facts(root, "boot")["next_entry"] == f"token-{KERNEL}.conf"


def test_saved_entry_of_systemd_boot(tmp_path):
    root = sd_tree(tmp_path, conf="default @saved\n")
    assert "next_kernel" not in facts(root, "boot")
    efi_variable(root, "LoaderInfo", "systemd-boot 257.8")
    assert facts(root, "boot")["next_kernel"] == KERNEL
    efi_variable(root, "LoaderEntryLastBooted", f"token-{OLD}.conf")
    assert facts(root, "boot")["next_kernel"] == OLD


def test_order_of_systemd_boot(tmp_path):
    root = new_tree(tmp_path)
    write(root / "boot/loader/loader.conf", "")
    entries = {
        "b-1+0.conf": "sort-key a\nversion 9\n", "z.conf": "", "a.conf": "",
        "k1.conf": "sort-key k\nmachine-id 2\nversion 1\n", "k2.conf": "sort-key k\nmachine-id 1\nversion 1\n",
        "k3.conf": "sort-key k\nmachine-id 1\nversion 1.10\n", "k4+3-1.conf": "sort-key k\nmachine-id 1\nversion 1.9\n",
        "k5.conf": "sort-key j\n", "k6.conf": "sort-key k\nmachine-id 1\nversion 1.10~rc1\n",
    }
    for name, text in entries.items():
        write(root / "boot/loader/entries" / name, "linux /vmlinuz\n" + text)
    assert [e["id"] for e in facts(root, "boot.entries")] == [
        "k5.conf", "k3.conf", "k6.conf", "k4.conf", "k2.conf", "k1.conf", "z.conf", "a.conf", "b-1.conf"]


def test_names_of_files_of_systemd_boot(tmp_path):
    """The partition's names have no case, and what is no counter stays. Of equal ones the one with more
    tries left, then with fewer done, comes first. Found by tests/oracles/bootctl.py"""
    root = new_tree(tmp_path)
    for name in ("a.CONF", "b+1-.conf", "c+x.conf", "d+1-2-3.conf", "e+12-34.Conf", "f+1.conf", "f+3-2.conf",
                 "f+3-1.conf", "g+-1.conf", "h.conf~"):
        write(root / "boot/loader/entries" / name, "linux /vmlinuz\n")
    found = facts(root, "boot.entries")
    assert [e["id"] for e in found] == ["g+-1.conf", "f.conf", "f.conf", "f.conf", "e.Conf", "d+1-2-3.conf", "c+x.conf",
                                        "b+1-.conf", "a.CONF"]
    assert [e["file"][-10:-5] for e in found[1:4]] == ["f+3-1", "f+3-2", "s/f+1"]


def compare_versions(tmp_path, a, b):
    root = new_tree(tmp_path)
    write(root / "boot/loader/loader.conf", "")
    write(root / "boot/loader/entries/a.conf", f"linux /x\nsort-key k\nversion {a}\n")
    write(root / "boot/loader/entries/b.conf", f"linux /x\nsort-key k\nversion {b}\n")
    return facts(root, "boot.entries")[0]["id"][0]


VERSIONS = ["122.1", "123~rc1-1", "123", "123-a", "123-a.1", "123-1", "123-1.1", "123^post1",
            "123.a-1", "123.1-1", "123a-1", "124-1"]


def test_versions_in_the_order_of_the_specification(tmp_path):
    """The list of UAPI.10, older to newer."""
    for i, (older, newer) in enumerate(zip(VERSIONS, VERSIONS[1:])):
        assert compare_versions(tmp_path / f"{i}a", older, newer) == "b", (older, newer)
        assert compare_versions(tmp_path / f"{i}b", newer, older) == "a", (older, newer)


def test_unified_kernel_image(tmp_path):
    src = folder(tmp_path / "src")
    root = new_tree(tmp_path / "root")
    for version, name in ((KERNEL, "debian-new.efi"), (OLD, "debian-old.efi")):
        write(root / "boot/efi/EFI/Linux" / name, pe_file({
            ".osrel": f'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12"\nVERSION_ID={12 if version == KERNEL else 11}\n'.encode(),
            ".cmdline": b"root=UUID=1 iommu=pt \n\0", ".uname": version.encode(),
            ".linux": b"MZ" + b"x" * 3000, ".initrd": compress(cpio(src), "zstd")}))
    write(root / "boot/efi/EFI/BOOT/BOOTX64.EFI", "MZ")
    found = facts(root)
    assert found["boot"]["loader"] == "uki"
    assert [(e["id"], e["kernel"]) for e in found["boot"]["entries"]] == [
        ("debian-new.efi", KERNEL), ("debian-old.efi", OLD)]
    assert found["boot"]["entries"][0]["title"] == "Debian GNU/Linux 12"
    assert found["boot"]["next_initrd"] == "/boot/efi/EFI/Linux/debian-new.efi"
    assert found["cmdline"]["staged"]["text"] == "root=UUID=1 iommu=pt"
    image = found["initramfs"]["images"][0]
    assert image["complete"] and image["running"] and image["next"]
    assert image["kernel"] == KERNEL
    run("--root", root, "capture", "--no-redact", "-o", tmp_path / "node.cap")
    again = run("--from", tmp_path / "node.cap", "facts", "boot").stdout
    assert again == run("--root", root, "facts", "boot").stdout


@pytest.mark.parametrize("content", [b"", b"MZ", b"no program", pe_file({".linux": b"MZ"})[:100], pe_file({".text": b"x"})])
def test_what_is_no_unified_kernel_image_is_no_entry(tmp_path, content):
    root = new_tree(tmp_path / "root")
    write(root / "boot/efi/EFI/Linux/good.efi", pe_file({".uname": KERNEL.encode(), ".linux": b"MZ", ".cmdline": b"quiet"}))
    write(root / "boot/efi/EFI/Linux/other.efi", content)
    write(root / "boot/efi/EFI/BOOT/BOOTX64.EFI", "MZ")
    assert [entry["id"] for entry in facts(root)["boot"]["entries"]] == ["good.efi"]


def test_entry_that_is_another_program(tmp_path):
    root = sd_tree(tmp_path, conf="default memtest*\n")
    write(root / "boot/loader/entries/memtest.conf", "title Memtest\nefi /EFI/memtest.efi\n")
    write(root / "boot/EFI/memtest.efi", pe_file({".text": b"x"}))
    found = facts(root)
    assert len(found["boot"]["entries"]) == 2
    said = [(g["path"], g["why"]) for g in found["gaps"] if "starts no Linux" in g["why"]]
    assert said == [("/boot/loader/entries/memtest.conf", "the entry that boots next starts no Linux kernel")]
    write(root / "boot/loader/loader.conf", "default other*\n")
    assert not [g for g in facts(root, "gaps") if "starts no Linux" in g["why"]]
    assert "next_kernel" not in found["boot"]


# ---- neither ----

def test_no_loader(tmp_path):
    root = new_tree(tmp_path)
    write(root / "boot/config", "")
    found = facts(root, "boot")
    assert found["loader"] is None and found["entries"] == []
    assert "next_kernel" not in found


def test_no_boot_folder_is_unknown(tmp_path):
    found = facts(new_tree(tmp_path))
    assert found.get("boot", {}) == {}


def test_release_behind_a_link(tmp_path):
    root = grub_tree(tmp_path, "menuentry x {\n linux /vmlinuz root=/dev/x\n initrd /initrd.img\n}\n")
    link(root / "vmlinuz", f"boot/vmlinuz-{KERNEL}")
    link(root / "initrd.img", f"boot/initrd.img-{KERNEL}")
    found = facts(root, "boot")
    assert found["next_kernel"] == KERNEL and found["next_initrd"] == "/initrd.img"


@pytest.mark.parametrize("files,value", [
    ({"run/reboot-required": ""}, True), ({"run/reboot-needed": "reboot"}, True),
    ({"var/lib/dpkg/status": ""}, False), ({"etc/zypp/zypp.conf": ""}, False),
    ({"var/lib/rpm/x": "", "usr/bin/x": ""}, None)])
def test_reboot_required(tmp_path, files, value):
    root = new_tree(tmp_path)
    write(root / "var/log/x")
    for name, text in files.items():
        write(root / name, text)
    assert facts(root, "boot")["reboot_required"] is value


# ---- sources of command lines ----

def sources(root):
    return [(s["variable"], s["text"], s["file"].rpartition("/")[2], s["line"])
            for s in facts(root, "cmdline.sources")]


def test_default_grub(tmp_path):
    root = new_tree(tmp_path)
    write(root / "etc/default/grub",
          "# If you change this file\nGRUB_DEFAULT=0\nGRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`\n"
          "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"\n")
    write(root / "etc/default/grub.d/50-cloudimg-settings.cfg",
          "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 console=ttyS0\"\n")
    write(root / "etc/default/grub.d/zz.cfg",
          'GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX }iommu=pt"\n'
          'GRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX:+$GRUB_CMDLINE_LINUX }pci=realloc"\n')
    write(root / "etc/default/grub.d/not-read", "GRUB_CMDLINE_LINUX=x\n")
    write(root / "etc/kernel/cmdline", "# comment\nroot=UUID=1 ro\n  quiet\n")
    assert sources(root) == [
        ("GRUB_CMDLINE_LINUX_DEFAULT", "quiet", "grub", 4),
        ("GRUB_CMDLINE_LINUX", "", "grub", 5),
        ("GRUB_CMDLINE_LINUX_DEFAULT", "console=tty1 console=ttyS0", "50-cloudimg-settings.cfg", 1),
        ("GRUB_CMDLINE_LINUX", "iommu=pt", "zz.cfg", 1),
        ("GRUB_CMDLINE_LINUX", "iommu=pt pci=realloc", "zz.cfg", 2),
        (None, "root=UUID=1 ro quiet", "cmdline", None)]


def test_a_drop_in_uses_the_loops_variable(tmp_path):
    root = new_tree(tmp_path)
    write(root / "etc/default/grub.d/a.cfg", "GRUB_CMDLINE_LINUX=of=$x\n")
    assert sources(root) == [("GRUB_CMDLINE_LINUX", "of=/etc/default/grub.d/a.cfg", "a.cfg", 1)]


def test_vendor_command_line(tmp_path):
    root = new_tree(tmp_path)
    write(root / "usr/lib/kernel/cmdline", "vendor\n")
    assert sources(root) == [(None, "vendor", "cmdline", None)]
    write(root / "etc/kernel/cmdline", "local\n")
    assert sources(root) == [(None, "local", "cmdline", None)]


# What a shell makes of each file is the measure; files with commands in them are not run.
SHELL = [
    'GRUB_CMDLINE_LINUX="a b"',
    "GRUB_CMDLINE_LINUX='a \"b\" $c'",
    "GRUB_CMDLINE_LINUX=a",
    "GRUB_CMDLINE_LINUX=",
    "GRUB_CMDLINE_LINUX=a\\ b",
    'GRUB_CMDLINE_LINUX="a\\"b\\$c\\`d\\\\e\\f"',
    'GRUB_CMDLINE_LINUX="a \\\n b"',
    'GRUB_CMDLINE_LINUX="a\n b"',
    'X=1; GRUB_CMDLINE_LINUX="$X ${X} $X$X ${X}y"',
    'GRUB_CMDLINE_LINUX="a"; GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX b"',
    'GRUB_CMDLINE_LINUX="${X:-d} ${X-e} ${X:+f} ${X+g}"',
    'X=; GRUB_CMDLINE_LINUX="${X:-d} ${X:+f}"',
    'X=x; GRUB_CMDLINE_LINUX="${X:-d} ${X:+f$X} ${X:+ }z"',
    'GRUB_CMDLINE_LINUX="a"\'b\'c"d e"',
    "export GRUB_CMDLINE_LINUX='a'",
    'GRUB_CMDLINE_LINUX=a X=b',
    'GRUB_CMDLINE_LINUX=a # comment',
    'GRUB_CMDLINE_LINUX="a # b"',
    'GRUB_CMDLINE_LINUX=a#b',
    '# GRUB_CMDLINE_LINUX=a',
    '  GRUB_CMDLINE_LINUX=a',
    'if true; then\n  GRUB_CMDLINE_LINUX=a\nfi',
    'GRUB_CMDLINE_LINUX=a; : GRUB_CMDLINE_LINUX=b',
    'GRUB_CMDLINE_LINUX=a\nGRUB_CMDLINE_LINUX=b true',
    'GRUB_CMDLINE_LINUX="$UNSET"',
    'GRUB_CMDLINE_LINUX="a$ $"',
    'GRUB_CMDLINE_LINUX=a;X=b',
    # Found by tests/oracles/dash.py
    'GRUB_CMDLINE_LINUX=a : b',
    'X=$! ; GRUB_CMDLINE_LINUX="${X:+a}${X:-b}$!"',
    'GRUB_CMDLINE_LINUX=a : GRUB_CMDLINE_LINUX=b',
    'X=; GRUB_CMDLINE_LINUX="${X-d} ${X+f}"',
    'X=1 GRUB_CMDLINE_LINUX=$X',
    'X=0; export X=1 GRUB_CMDLINE_LINUX=$X',
    'X=1; Xab=2; GRUB_CMDLINE_LINUX=$X\\\nab',
    'X=1; GRUB_CMDLINE_LINUX=a$\\\nX\\\n-"$\\\nX"',
]


@pytest.mark.parametrize("text", SHELL, ids=range(len(SHELL)))
def test_as_a_shell_reads_it(tmp_path, text):
    root = new_tree(tmp_path)
    path = write(root / "etc/default/grub", text + "\n")
    shell = subprocess.run(["env", "-i", shutil.which("sh"), "-c",
                            '. "$0"; printf "[%s]" "$GRUB_CMDLINE_LINUX"', path],
                           capture_output=True, check=True, text=True).stdout
    found = [s["text"] for s in facts(root, "cmdline.sources")]
    assert f"[{found[-1] if found else ''}]" == shell


@pytest.mark.parametrize("text,value", [
    ('GRUB_CMDLINE_LINUX="a $(cat /etc/passwd) b"', '"a $(cat /etc/passwd) b"'),
    ('GRUB_CMDLINE_LINUX=`id`', '`id`'),
    ('GRUB_CMDLINE_LINUX="${X##y}"', '"${X##y}"'),
    ('GRUB_CMDLINE_LINUX="$1 $*"', '"$1 $*"'),
    ('GRUB_CMDLINE_LINUX=$(echo "a)" \')\' b)', '$(echo "a)" \')\' b)'),
])
def test_commands_stay_as_they_are_written(tmp_path, text, value):
    root = new_tree(tmp_path)
    write(root / "etc/default/grub", text + "\n")
    found = facts(root, "cmdline.sources")[-1]["text"]
    assert found == value


def test_bash_append(tmp_path):
    root = new_tree(tmp_path)
    write(root / "etc/default/grub", 'GRUB_CMDLINE_LINUX="a"\nGRUB_CMDLINE_LINUX+=" b"\n')
    assert facts(root, "cmdline.sources")[-1]["text"] == "a b"


def test_growing_values_stop(tmp_path):
    """Forty doublings are not carried out."""
    root = new_tree(tmp_path)
    write(root / "etc/default/grub", "GRUB_CMDLINE_LINUX=aaaaaaaaaa\n" +
          'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX$GRUB_CMDLINE_LINUX"\n' * 40)
    assert len(facts(root, "cmdline.sources")[-1]["text"]) < 5000


# ---- the running command line ----

def test_running(tmp_path):
    line = 'BOOT_IMAGE=/boot/vmlinuz root=UUID=1 ro "a.b=c d" e="f g" h= -- init arg=1'
    found = facts(new_tree(tmp_path, cmdline=line), "cmdline")
    assert found["running"] == line
    assert [(a["key"], a["value"]) for a in found["args"]] == [
        ("BOOT_IMAGE", "/boot/vmlinuz"), ("root", "UUID=1"), ("ro", None), ("a.b", "c d"),
        ("e", "f g"), ("h", "")]


def test_a_quote_that_is_never_closed_ends_before_the_newline(tmp_path):
    """Found by tests/oracles/cmdline.py"""
    args = facts(new_tree(tmp_path, cmdline='a="b c'), "cmdline.args")
    assert [(a["key"], a["value"]) for a in args] == [("a", "b c")]

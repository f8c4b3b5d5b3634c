# SPDX-License-Identifier: GPL-2.0-or-later
# nvnodecheck(8) for bash. The program itself knows what can stand where (src/cli/complete.h); all that is
# done here is to ask it. Installed as share/bash-completion/completions/nvnodecheck.

_nvnodecheck()
{
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:files) compopt -o default ;;
		:folders) compopt -o dirnames ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <(command "$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	# More may follow the last word of a list; a value follows an option after a blank.
	[[ ${COMPREPLY[0]-} != *,* ]] || compopt -o nospace
}

complete -F _nvnodecheck nvnodecheck

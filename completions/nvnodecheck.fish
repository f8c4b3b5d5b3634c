# SPDX-License-Identifier: GPL-2.0-or-later
# nvnodecheck(8) for fish. The program itself knows what can stand where (src/cli/complete.h); all that is
# done here is to ask it. Installed as share/fish/vendor_completions.d/nvnodecheck.fish.

function __nvnodecheck_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l part (commandline --cut-at-cursor --current-token)
    # --from=/etc/ : the part before the path belongs to each answer.
    set -l option (string match --regex -- '^--[^=]*=' $part)
    set -l path (string replace --regex -- '^--[^=]*=' '' $part)
    for line in (command $words[1] __complete $words[2..] "$part" 2>/dev/null)
        switch $line
            case :files
                printf '%s\n' "$option"(__fish_complete_path "$path")
            case :folders
                printf '%s\n' "$option"(__fish_complete_directories "$path" '')
            case '*'
                echo $line
        end
    end
end

complete --command nvnodecheck --no-files --arguments '(__nvnodecheck_complete)'

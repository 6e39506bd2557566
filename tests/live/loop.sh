# A probe in the middle of a loop sees every turn, however the place is written.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program nm readelf
cd "$TARGETS"

# Sets func, turn (addresses) and file_offset (of turn) of the program $1.
find_turn()
{
	local address segment_offset segment_address segment_size _
	func=$((16#$(nm "$1" | sed -n 's/^\([0-9a-f]*\) . turns$/\1/p')))
	turn=$((16#$(nm "$1" | sed -n 's/^\([0-9a-f]*\) . loop_turn$/\1/p')))
	while read -r _ segment_offset segment_address _ _ segment_size _; do
		address=$((segment_address))
		if ((turn >= address && turn < address + segment_size)); then
			file_offset=$((turn - address + segment_offset))
		fi
	done < <(readelf -lW "$1" | grep -E '^ +LOAD .* R *E ')
}

want=$(printf '%d\n' 0 3 6 9 12)
for program in t_loop t_loop_nopie; do
	find_turn "./$program"
	within=$(printf '0x%x' $((turn - func)))
	for place in "turns+$within" "$(printf '0x%x' "$turn")" "@$(printf '0x%x' "$file_offset")"; do
		run_up -o "$TMP/hits" -e "probe ./$program:$place < printf(\"%d %s %s %#x\\n\", reg.di, func, offset, ip) >" \
			-c "./$program"
		expect_status 0
		expect_line '^5 hits handled, 0 filtered, 0 lost in ' err
		expect_eq "turns of $program:$place" "$(cut -d' ' -f1 "$TMP/hits")" "$want"
		# The symbol at the very address names it, if it counts as a function; else the function around it.
		expect_eq "ip of $program:$place" "$(cut -d' ' -f4 "$TMP/hits" | grep -c "$(printf '%x' $((turn & 0xfff)))$")" 5
		expect_eq "function at $program:$place" "$(cut -d' ' -f2-3 "$TMP/hits" | sort -u)" "turns +$within"
	done
done

# The address of a program that is not position-independent is the one that it runs at.
expect_eq "ip of t_loop_nopie" "$(cut -d' ' -f4 "$TMP/hits" | sort -u)" "$(printf '0x%x' "$turn")"

# arg0 there is whatever its register holds: that is said.
run_up -o "$TMP/hits" -e "probe ./t_loop:turns+$within < printf(\"%d\\n\", arg0) >" -c ./t_loop
expect_eq "turns by arg0" "$(cat "$TMP/hits")" "$want"
expect_line 'warning.*arg' err

# The middle of an instruction is no place for a probe, and a return has none in the middle of a function.
run_up -e "probe ./t_loop:turns+1 < count() >" -c ./t_loop
expect_status 2
expect_line 'error' err
run_up -e "probe ./t_loop:turns+$within on return < count() >" -c ./t_loop
expect_status 2
expect_line 'error\[return-place\]' err

nothing_left

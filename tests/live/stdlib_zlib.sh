# The module `zlib` of the standard library, on what Python's modules zlib and gzip do.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
export PATH=/usr/bin:/bin:$PATH
need_program python3 ldd
[[ $(ldd "$(command -v python3)") == *libz.so* ]] || fail "python3 does not load libz"

cat >"$TMP/work.py" <<'EOP'
import ctypes, zlib
small = zlib.compress(bytes(100000))
print("made", len(small))
zlib.decompress(small)
zlib.crc32(bytes(1234))
libz = ctypes.CDLL("libz.so.1")
libz.gzopen.restype = ctypes.c_void_p
for mode in b"wb", b"rb":
    file = ctypes.c_void_p(libz.gzopen(b"%s/file.gz" % __file__.rpartition("/")[0].encode(), mode))
    (libz.gzwrite if mode == b"wb" else libz.gzread)(file, ctypes.create_string_buffer(5000), 5000)
    libz.gzclose(file)
EOP
run_up -e 'use zlib
	probe zlib.compressed < printf("compressed %d %d\n", bytes_in, bytes_out) >
	probe zlib.decompressed < printf("decompressed %d %d\n", bytes_in, bytes_out) >
	probe zlib.deflate when (total_in == 0 && bytes == 100000) < printf("deflate %d\n", bytes) >
		on return < printf("deflated %d %d\n", result, (ns > 0)) >
	probe zlib.inflate when (total_in == 0 && bytes < 1000) < given = sum(bytes) >
	probe zlib.checksum when (func == "crc32_z" && bytes == 1234) < printf("crc %d\n", bytes) >
	probe zlib.open < printf("open %s %s\n", basename(path), mode) >
	probe zlib.read < printf("read %d\n", bytes) >
	probe zlib.write < printf("write %d\n", bytes) >' -c "python3 -I $TMP/work.py"
expect_status 0
made=$(sed -n 's/^made //p' "$TMP/out")
[ "$made" -gt 50 ] && [ "$made" -lt 1000 ] || fail "100000 zeros became $made bytes"
file=$(wc -c <"$TMP/file.gz")
expect_eq "streams" "$(grep -E '^(de)?compressed ' "$TMP/out")" "compressed 100000 $made
decompressed $made 100000
compressed 5000 $file
decompressed $file 5000"
expect_eq "deflate" "$(grep -E '^deflated? ' "$TMP/out")" "deflate 100000
deflated 1 1"
expect_line "^given = $((made + file))\$"
expect_count 1 '^crc 1234$'
expect_eq "files" "$(grep -E '^(open|read|write) ' "$TMP/out")" "open file.gz wb
write 5000
open file.gz rb
read 5000"
expect_line ' 0 lost in ' err

# The example on one stream.
run_up -c "/usr/bin/python3 -c 'import zlib; zlib.compress(bytes(30000))'" "$EXAMPLES/compression.up"
expect_status 0
expect_line '^python3: 1 streams, 30000 bytes to [0-9]+, 0 %$'
nothing_left

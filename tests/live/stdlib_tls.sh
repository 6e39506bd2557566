# The module `tls` of the standard library: what curl (OpenSSL) and wget (GnuTLS) say to a server, and their reads and
# handshakes; and the module `curl`.
# Guest: only where this machine cannot trace.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
need_tracefs
need_program openssl curl wget /usr/bin/python3
cd "$TMP"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 \
	-subj /CN=localhost >openssl.out 2>&1 || fail "no certificate: $(cat openssl.out)"
echo "what the page says" >page.txt
ip link set lo up 2>/dev/null || true # a guest's is down

# A port that nobody has.
for ((port = 20000 + $$ % 20000; ; port++)); do
	! (: <"/dev/tcp/localhost/$port") 2>/dev/null || continue
	break
done
openssl s_server -accept "$port" -key key.pem -cert cert.pem -WWW -quiet >server.out 2>&1 &
helpers=($!)
server_is_up()
{
	(: <"/dev/tcp/localhost/$port") 2>/dev/null
}
wait_for "server" server_is_up
url=https://localhost:$port/page.txt

cat >points.up <<'EOP'
use tls
use curl
probe tls.write < printf("write %d %s\n", bytes, split(text, "\r\n", 0)) > on return < printf("written %d\n", ok) >
probe tls.read when (ok) < printf("read %d\n", bytes) >
probe tls.handshake when (ok) < printf("handshake %d\n", (ns > 0)) >
probe tls.host < printf("host %s\n", name) >
probe curl.url < printf("url %s\n", url) >
probe curl.perform < printf("done %d\n", result) >
EOP
request="GET /page.txt HTTP/1.1"
head="HTTP/1.0 200 ok\r\nContent-type: text/plain\r\n\r\n"
page=$(($(printf '%b' "$head" | wc -c) + $(wc -c <page.txt)))

# What curl and wget send: the request's first line is theirs, its length is what they say themselves.
run_up -c "curl -sk -A me -o got $url" points.up
expect_status 0
expect_eq "curl's page" "$(cat got)" "what the page says"
length=$(printf '%b' "$request\r\nHost: localhost:$port\r\nUser-Agent: me\r\nAccept: */*\r\n\r\n" | wc -c)
expect_eq "curl" "$(cat out)" "url $url
host localhost
handshake 1
write $length $request
written 1
read $page
done 0"
expect_line ' 0 lost in ' err

run_up -c "wget -q --no-check-certificate -U me -O got $url" points.up
expect_status 0
expect_eq "wget's page" "$(cat got)" "what the page says"
fields="User-Agent: me\r\nAccept: */*\r\nAccept-Encoding: identity\r\nConnection: Keep-Alive"
length=$(printf '%b' "$request\r\nHost: localhost:$port\r\n$fields\r\n\r\n" | wc -c)
expect_eq "wget" "$(cat out)" "host localhost
handshake 1
write $length $request
written 1
read $page"
expect_line ' 0 lost in ' err

# Python uses SSL_write_ex and SSL_read_ex, which tells in memory how much it has read.
cat >client.py <<'EOP'
import socket, ssl, sys
context = ssl._create_unverified_context()
with context.wrap_socket(socket.create_connection(("localhost", int(sys.argv[1]))), server_hostname="localhost") as s:
    s.sendall(b"GET /page.txt HTTP/1.1\r\n\r\n")
    while s.recv(4096):
        pass
EOP
run_up -c "/usr/bin/python3 -I client.py $port" points.up
expect_status 0
length=$(printf '%b' "$request\r\n\r\n" | wc -c)
expect_eq "Python" "$(cat out)" "host localhost
handshake 1
write $length $request
written 1
read -1"
expect_line ' 0 lost in ' err

# A transfer that fails.
run_up -c "curl -sk -m 5 https://localhost:$port/page.txt --cacert /nonexistent --no-insecure -o got" points.up
expect_status 77
expect_line '^done 77$'
expect_no_line '^write'

# The example on the same.
run_up -c "curl -sk -A me -o got $url" "$EXAMPLES/tls-text.up"
expect_status 0
expect_line "^curl\\[[0-9]+\\] localhost +[0-9]+ bytes  $request\$"
nothing_left

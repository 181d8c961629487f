// An HTTP server for scripts/attack/fetch.sh that answers every request wrongly, as its first argument says. Writes its
// port to standard output, and a byte for every request to the file of its second argument.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void send_text(int to, const char* text) {
  if (write(to, text, strlen(text)) < 0) return;
}

static void send_many(int to, const char* text, int times) {
  for (int i = 0; i < times; ++i) send_text(to, text);
}

static void answer(int to, const char* kind) {
  const char* begin = "HTTP/1.1 200 OK\r\nContent-Length: 9912422\r\n\r\n";
  if (!strcmp(kind, "missing")) send_text(to, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  if (!strcmp(kind, "busy")) send_text(to, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  if (!strcmp(kind, "loop")) send_text(to, "HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n");
  if (!strcmp(kind, "garbage")) send_many(to, "\x1b[31m\xff\n", 1000);
  if (!strcmp(kind, "header")) send_text(to, "HTTP/1.1 200 OK\r\n"), send_many(to, "X-Long: yyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n", 100000);
  if (!strcmp(kind, "long")) send_text(to, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n"), send_many(to, "zzzzzzzzzzzzzzzz", 700000);
  if (!strcmp(kind, "other")) send_text(to, begin), send_many(to, "zzzzzzzzzzzzzzz\n", 619526), send_text(to, "zzzzzz");
  if (!strcmp(kind, "short")) send_text(to, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
  if (!strcmp(kind, "drip")) send_text(to, "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9912421/9912422\r\nContent-Length: 9912422\r\n\r\nz");
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  FILE* requests = fopen(argv[2], "w");
  if (requests == NULL || bind(listening, (struct sockaddr*)&address, size) != 0 || listen(listening, 8) != 0) return 1;
  getsockname(listening, (struct sockaddr*)&address, &size);
  signal(SIGPIPE, SIG_IGN);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  fclose(stdout);
  for (;;) {
    char request[4096];
    const int connection = accept(listening, NULL, NULL);
    if (connection < 0 || read(connection, request, sizeof request) <= 0) continue;
    fputc('x', requests);
    fflush(requests);
    answer(connection, argv[1]);
    shutdown(connection, SHUT_WR);
    while (read(connection, request, sizeof request) > 0) continue;
    close(connection);
  }
}

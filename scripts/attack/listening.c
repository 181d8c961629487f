// Loaded with LD_PRELOAD by scripts/attack/strangers.sh: of every TCP port on which the program begins to listen,
// "store" or "gloo" (whose it is), address and number are written to the pipe $ATTACK_PORTS, and strangers have a
// moment to be the first there.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int listen(int fd, int backlog) {
  const int result = ((__typeof__(&listen))dlsym(RTLD_NEXT, "listen"))(fd, backlog);
  struct sockaddr_in place;
  socklen_t size = sizeof place;
  const char* pipe_name = getenv("ATTACK_PORTS");
  const char* store = getenv("MASTER_PORT");
  if (result != 0 || pipe_name == NULL || getsockname(fd, (struct sockaddr*)&place, &size) != 0) return result;
  if (place.sin_family != AF_INET) return result;
  const int number = ntohs(place.sin_port);
  const int out = open(pipe_name, O_WRONLY | O_NONBLOCK);
  if (out < 0) return result;
  dprintf(out, "%s %s %d\n", store != NULL && atoi(store) == number ? "store" : "gloo", inet_ntoa(place.sin_addr),
          number);
  close(out);
  usleep(20000);
  return result;
}

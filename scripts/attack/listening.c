// Loaded with LD_PRELOAD by scripts/attack/strangers.sh: for every TCP port on which the program starts to listen,
// writes its owner ("store" or "gloo"), address and number to the pipe $ATTACK_PORTS, then waits briefly so that
// strangers can be the first to connect.
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
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  const char* pipe_name = getenv("ATTACK_PORTS");
  const char* store = getenv("MASTER_PORT");
  if (result != 0 || pipe_name == NULL || getsockname(fd, (struct sockaddr*)&address, &size) != 0) return result;
  if (address.sin_family != AF_INET) return result;
  const int number = ntohs(address.sin_port);
  const int out = open(pipe_name, O_WRONLY | O_NONBLOCK);
  if (out < 0) return result;
  dprintf(out, "%s %s %d\n", store != NULL && atoi(store) == number ? "store" : "gloo", inet_ntoa(address.sin_addr),
          number);
  close(out);
  usleep(20000);
  return result;
}

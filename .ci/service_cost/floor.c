// The lower bound of a service's cost: waits for a serial line and a client, reads, sends as many bytes as a fix has,
// and reads the client's reply. `floor LINE SOCKET`; exits when the client disconnects.

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count != 3) return 64;
  int line = open(arguments[1], O_RDWR | O_NOCTTY | O_NONBLOCK);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, arguments[2], sizeof address.sun_path - 1);
  if (line < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0) return 69;
  int client = accept(listener, NULL, NULL);
  int wait = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = line}};
  epoll_ctl(wait, EPOLL_CTL_ADD, line, &event);
  event.data.fd = client;
  epoll_ctl(wait, EPOLL_CTL_ADD, client, &event);
  static char input[4096], output[400];
  for (;;) {
    struct epoll_event events[2];
    int ready = epoll_wait(wait, events, 2, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd == line) {
        if (read(line, input, sizeof input) > 0) send(client, output, sizeof output, MSG_NOSIGNAL);
      } else if (recv(client, input, sizeof input, 0) <= 0) {
        return 0;
      }
    }
  }
}

// Preloaded into a process (LD_PRELOAD), it cuts the process off from all other machines: a connection, a
// datagram or a look-up of a name beyond this machine fails, and is written into the file $TRIED. It stands
// below Python, so it sees the libraries' native code too.

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

void note(const char *what, const char *where) {
    const char *file = getenv("TRIED");
    char line[512];
    int length = snprintf(line, sizeof line, "%s %s\n", what, where);
    int log = file ? open(file, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (log >= 0) {
        if (write(log, line, length) < 0) abort();
        close(log);
    }
}

bool refused(const char *what, const sockaddr *address) {
    char where[INET6_ADDRSTRLEN] = "";
    if (!address) return false;
    if (address->sa_family == AF_INET) {
        const in_addr &ip = reinterpret_cast<const sockaddr_in *>(address)->sin_addr;
        if ((ntohl(ip.s_addr) >> 24) == 127) return false;
        inet_ntop(AF_INET, &ip, where, sizeof where);
    } else if (address->sa_family == AF_INET6) {
        const in6_addr &ip = reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr;
        if (IN6_IS_ADDR_LOOPBACK(&ip)) return false;
        inet_ntop(AF_INET6, &ip, where, sizeof where);
    } else {
        return false;
    }
    note(what, where);
    errno = ENETUNREACH;
    return true;
}

bool refused_name(const char *name) {
    if (!name || !*name || !strcmp(name, "localhost") || !strcmp(name, "::1") || !strncmp(name, "127.", 4))
        return false;
    if (!strcmp(name, "0.0.0.0") || !strcmp(name, "::")) return false;
    note("look-up", name);
    return true;
}

template <typename F> F *real(const char *name) { return reinterpret_cast<F *>(dlsym(RTLD_NEXT, name)); }

}  // namespace

extern "C" {

int connect(int fd, const sockaddr *address, socklen_t length) {
    static auto *next = real<int(int, const sockaddr *, socklen_t)>("connect");
    return refused("connect", address) ? -1 : next(fd, address, length);
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const sockaddr *address, socklen_t length) {
    static auto *next = real<ssize_t(int, const void *, size_t, int, const sockaddr *, socklen_t)>("sendto");
    return refused("sendto", address) ? -1 : next(fd, data, size, flags, address, length);
}

ssize_t sendmsg(int fd, const msghdr *message, int flags) {
    static auto *next = real<ssize_t(int, const msghdr *, int)>("sendmsg");
    const auto *address = static_cast<const sockaddr *>(message->msg_name);
    return refused("sendmsg", address) ? -1 : next(fd, message, flags);
}

int getaddrinfo(const char *name, const char *service, const addrinfo *hints, addrinfo **found) {
    static auto *next = real<int(const char *, const char *, const addrinfo *, addrinfo **)>("getaddrinfo");
    return refused_name(name) ? EAI_NONAME : next(name, service, hints, found);
}

hostent *gethostbyname(const char *name) {
    static auto *next = real<hostent *(const char *)>("gethostbyname");
    return refused_name(name) ? nullptr : next(name);
}

}  // extern "C"

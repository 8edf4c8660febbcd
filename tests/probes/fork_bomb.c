// Makes as many processes as it can, and goes on trying.

#include <unistd.h>

int main(void) {
  for (;;)
    fork();
}

/** A worker that ends as the kernel ends one when memory runs out. */
process.kill(process.pid, 'SIGKILL');

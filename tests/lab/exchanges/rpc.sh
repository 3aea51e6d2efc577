#!/bin/sh
# traces/protocols/rpc: the port mapper, mount and NFS 3 (and 4, where the library has it), over UDP and TCP, by tools.
# As root: rpcbind, ganesha.nfsd that exports the folder /export (a folder of 30 files, small, large: 300 kB) as
# NFS 3 and 4 at 127.0.0.1:2049; rpcinfo, showmount (nfs-common), libnfs-utils; tcpdump listens to the loopback
# device.
set -u

export=${1:-/export}
server=nfs://127.0.0.1$export

rpcinfo -p 127.0.0.1
rpcinfo -s 127.0.0.1
rpcinfo -T tcp 127.0.0.1 100003
rpcinfo -u 127.0.0.1 100000 2
rpcinfo -t 127.0.0.1 100003 9
rpcinfo -u 127.0.0.1 300000 1
showmount -e 127.0.0.1
nfs-ls "$server"
nfs-ls "$server/folder"
nfs-cat "$server/small"
nfs-cat "$server/missing"
nfs-cat "$server/large" >/dev/null
printf 'written by a client\n' >/tmp/written
nfs-cp /tmp/written "$server/written"
nfs-cp "$server/large" /tmp/copied
nfs-cp /tmp/copied "$server/copy"
nfs-ls "$server/?version=4"
nfs-ls nfs://127.0.0.1/nowhere
rm -f /tmp/written /tmp/copied

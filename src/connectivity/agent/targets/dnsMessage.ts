/**
 * The two parts of DNS messages (RFC 1035) that a probe needs: a question, and the header of an answer. The records of
 * an answer are not read: that the DNS answers is what counts.
 */
const HEADER_BYTES = 12;
const RECURSION_DESIRED = 0x0100;
const IS_ANSWER = 0x8000;
const NOERROR = 0;
const NXDOMAIN = 3;

/** A question for the IPv4 addresses of a name. @param name valid, without the dot at its end */
export function dnsQuestion(id: number, name: string): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(RECURSION_DESIRED, 2);
  header.writeUInt16BE(1, 4);
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  // The root, type A, class IN.
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, 1, 0, 1])]);
}

/**
 * | message | result |
 * |---|---|
 * | no answer, or to another question | undefined |
 * | NOERROR or NXDOMAIN: the server knows the zone | true |
 * | SERVFAIL, REFUSED and others | false |
 */
export function isAnswered(message: Buffer, id: number): boolean | undefined {
  if (message.length < HEADER_BYTES || message.readUInt16BE(0) !== id) return undefined;
  const flags = message.readUInt16BE(2);
  if ((flags & IS_ANSWER) === 0) return undefined;
  return [NOERROR, NXDOMAIN].includes(flags & 0xf);
}

/** The first name server of a resolv.conf(5), and the name of the API server's Service in the domain of the cluster. */
export interface ClusterDns {
  readonly server: string;
  readonly name: string;
}

/** Reads a resolv.conf. Undefined if it names no server. The domain comes from the search domain `svc.<domain>`; default: cluster.local. */
export function clusterDns(resolvConf: string): ClusterDns | undefined {
  const lines = resolvConf.split('\n').map((line) => line.trim().split(/\s+/));
  const server = lines.find(([key, value]) => key === 'nameserver' && value !== undefined)?.[1];
  // The last line counts.
  const search = lines.findLast(([key]) => key === 'search') ?? [];
  const services = search.map((each) => each.replace(/\.$/, '')).find((each) => SERVICES.test(each));
  return server === undefined ? undefined : { server, name: `kubernetes.default.${services ?? 'svc.cluster.local'}` };
}

const SERVICES = /^svc(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+$/;

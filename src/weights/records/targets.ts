/** A load balancer as status.loadBalancer of an Ingress or status.addresses of a Gateway states it. */
export interface LoadBalancerAddress {
  readonly hostname?: string | undefined;
  readonly ip?: string | undefined;
}

/** The value of a record set. */
export interface Targets {
  readonly recordType: 'CNAME' | 'A' | 'AAAA';
  /** Sorted and distinct, so that their order in the status changes nothing. A CNAME has one target. */
  readonly targets: readonly string[];
}

/**
 * Returns the record sets that lead to a load balancer.
 *
 * | addresses | record sets |
 * |---|---|
 * | a host name | CNAME to the first host name, as in k8s-traffic-controller; IP addresses are ignored, since a CNAME allows no other record |
 * | IPv4, IPv6 | A, AAAA with all of them |
 * | none yet | none |
 */
export function targetsOf(addresses: readonly LoadBalancerAddress[]): Targets[] {
  const hostname = addresses.find(({ hostname: name }) => name !== undefined && name !== '')?.hostname;
  if (hostname !== undefined) return [{ recordType: 'CNAME', targets: [hostname] }];
  const ips = [...new Set(addresses.flatMap(({ ip }) => ip ?? []))].sort();
  return [
    { recordType: 'A' as const, targets: ips.filter((ip) => !isIPv6(ip)) },
    { recordType: 'AAAA' as const, targets: ips.filter(isIPv6) },
  ].filter(({ targets }) => targets.length > 0);
}

/** The API server has checked that it is an IP address. */
function isIPv6(ip: string): boolean {
  return ip.includes(':');
}

/**
 * Returns whether a host is the domain, or within it, at a label boundary: `foo.io` contains `foo.io`, `a.foo.io` and `*.foo.io`,
 * but not `evilfoo.io`. `.foo.io` does not contain `foo.io` itself, as in k8s-traffic-controller. Names are compared as in DNS,
 * without case and without the dot at their end. An empty domain contains every host.
 */
export function isWithin(host: string, domain: string): boolean {
  const [name, parent] = [normal(host), normal(domain)];
  if (parent === '' || parent.startsWith('.')) return name.endsWith(parent);
  return name === parent || name.endsWith(`.${parent}`);
}

/** Returns a DNS name in the form for comparisons: lower case, without the dot at its end. */
export function normal(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/**
 * Whether a host is the domain, or within it, at a label boundary: `foo.io` has `foo.io`, `a.foo.io` and `*.foo.io`, and
 * not `evilfoo.io`. `.foo.io` has what is within it, and not `foo.io`, as in the original. Names are compared as DNS does,
 * without case and without the dot at their end. An empty domain has every host.
 */
export function isWithin(host: string, domain: string): boolean {
  const [name, parent] = [normal(host), normal(domain)];
  if (parent === '' || parent.startsWith('.')) return name.endsWith(parent);
  return name === parent || name.endsWith(`.${parent}`);
}

/** A DNS name as it is compared: lower case, without the dot at its end. */
export function normal(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/**
 * Whether a host is the domain, or within it, at a label boundary: `foo.io` has `foo.io`, `a.foo.io` and `*.foo.io`, and
 * not `evilfoo.io`. Names are compared as DNS does, without case and without the dot at their end. An empty domain has
 * every host. A leading dot of the domain is ignored: the original needed it for a label boundary.
 */
export function isWithin(host: string, domain: string): boolean {
  const [name, parent] = [normal(host), normal(domain).replace(/^\./, '')];
  return parent === '' || name === parent || name.endsWith(`.${parent}`);
}

/** A DNS name as it is compared: lower case, without the dot at its end. */
export function normal(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

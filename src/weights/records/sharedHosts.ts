import { HTTP_ROUTE, serviceKey, type Source, type SourceHost } from './source.ts';

/**
 * Routes often share a host: one redirects to HTTPS, or teams have a path each. If they have the same addresses, it is one record,
 * and what answers for the host is what all of them lead to.
 */
export function withSharedHosts(routes: readonly Source[]): Source[] {
  const sharing = Map.groupBy(
    routes.flatMap((route) => route.hosts.map((host) => ({ route, host }))),
    ({ route, host }) => `${host.host} ${JSON.stringify(route.targets)}`,
  );
  const together = new Map<SourceHost, SourceHost>();
  for (const all of sharing.values()) {
    if (all.length > 1) for (const { route, host } of all) together.set(host, joined(host, all, route.namespace));
  }
  return routes.map((route) => ({ ...route, hosts: route.hosts.map((host) => together.get(host) ?? host) }));
}

/** Whether two sources have one record of a host that both have: see withSharedHosts(). */
export function shareRecord(a: Source, b: Source): boolean {
  return a.kind === HTTP_ROUTE && b.kind === HTTP_ROUTE && JSON.stringify(a.targets) === JSON.stringify(b.targets);
}

function joined(
  { host }: SourceHost,
  all: readonly { readonly route: Source; readonly host: SourceHost }[],
  namespace: string,
): SourceHost {
  const keys = all.flatMap(({ route, host: { services } }) => services.map((one) => serviceKey(route.namespace, one)));
  const own = (key: string): string => (key.startsWith(`${namespace}/`) ? key.slice(namespace.length + 1) : key);
  return {
    host,
    services: [...new Set(keys)].map(own).sort(),
    leadsNowhere: all.some((one) => one.host.leadsNowhere),
  };
}

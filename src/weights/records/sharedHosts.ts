import { HTTP_ROUTE, type Source, type SourceHost } from './source.ts';

/**
 * Merges the hosts that several routes of one namespace share: one redirects to HTTPS, or each has a path. If the routes have the
 * same addresses, the host gets one record, for the Services of all these routes. Routes of another namespace are not merged: their
 * owner could take the host off the DNS with a rule without backends. Ingresses are unchanged.
 *
 * @param sources the selected sources
 */
export function withSharedHosts(sources: readonly Source[]): Source[] {
  const routes = sources.filter(({ kind }) => kind === HTTP_ROUTE);
  const sharing = Map.groupBy(
    routes.flatMap((route) => {
      const targets = JSON.stringify(route.targets);
      return route.hosts.map((host) => ({ host, key: `${route.namespace} ${host.host} ${targets}` }));
    }),
    ({ key }) => key,
  );
  const together = new Map<SourceHost, SourceHost>();
  for (const all of sharing.values()) {
    if (all.length === 1) continue;
    const shared = joined(all.map(({ host }) => host));
    for (const { host } of all) together.set(host, shared);
  }
  return sources.map((source) =>
    source.kind === HTTP_ROUTE ? { ...source, hosts: source.hosts.map((host) => together.get(host) ?? host) } : source,
  );
}

/** Returns whether two sources can share the record of a host: both are routes with the same addresses. */
export function shareRecord(a: Source, b: Source): boolean {
  return a.kind === HTTP_ROUTE && b.kind === HTTP_ROUTE && JSON.stringify(a.targets) === JSON.stringify(b.targets);
}

/** @param all hosts of one name, of one namespace; at least one */
function joined(all: readonly SourceHost[]): SourceHost {
  return {
    host: all[0]?.host ?? '',
    services: [...new Set(all.flatMap(({ services }) => services))].sort(),
    leadsNowhere: all.some(({ leadsNowhere }) => leadsNowhere),
  };
}

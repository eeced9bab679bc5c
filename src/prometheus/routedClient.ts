import { createPrometheusClient, type PrometheusClient } from './prometheusClient.ts';

/**
 * Creates a client that asks the Prometheus at `url`, without credentials, and `standard` while there is none.
 *
 * @param url returns the URL of the other Prometheus; undefined while there is none
 */
export function routedClient(
  standard: PrometheusClient,
  url: () => string | undefined,
  create: (url: string) => PrometheusClient = (other) => createPrometheusClient({ url: other, isNear: true }),
): PrometheusClient {
  let other: { readonly url: string; readonly client: PrometheusClient } | undefined;
  const present = (): PrometheusClient => {
    const wanted = url();
    if (other !== undefined && other.url !== wanted) {
      other.client.close();
      other = undefined;
    }
    if (wanted === undefined) return standard;
    other ??= { url: wanted, client: create(wanted) };
    return other.client;
  };
  return {
    // Async, so that an invalid URL rejects the promise, as any other failure does.
    query: async (query) => present().query(query),
    close() {
      other?.client.close();
      standard.close();
    },
  };
}

import { createPrometheusClient, type PrometheusClient } from './prometheusClient.ts';

/**
 * A client that asks another Prometheus for as long as there is one.
 *
 * @param url returns where the other one is; undefined while there is none. It is asked without credentials
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
    // In a promise, so that a URL that is none is rejected like any other failure.
    query: async (query) => present().query(query),
    close() {
      other?.client.close();
      standard.close();
    },
  };
}

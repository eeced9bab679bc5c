import { KubeConfig } from '@kubernetes/client-node/dist/config.js';

export interface KubeConfigParts {
  server: string;
  /** PEM. */
  ca?: string;
  caFile?: string;
  token?: string;
  tokenFile?: string;
  certFile?: string;
  keyFile?: string;
  proxyUrl?: string;
}

/** A kubeconfig of one context. */
export function kubeConfigFor(parts: KubeConfigParts): KubeConfig {
  const { server, ca, caFile, token, tokenFile, certFile, keyFile, proxyUrl } = parts;
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: 'local',
      server,
      // KubeConfig refuses plain http without it.
      skipTLSVerify: server.startsWith('http:'),
      ...(ca === undefined ? {} : { caData: Buffer.from(ca).toString('base64') }),
      ...(caFile === undefined ? {} : { caFile }),
      ...(proxyUrl === undefined ? {} : { proxyUrl }),
    },
    {
      name: 'user',
      ...(token === undefined ? {} : { token }),
      ...(certFile === undefined ? {} : { certFile }),
      ...(keyFile === undefined ? {} : { keyFile }),
      ...(tokenFile === undefined ? {} : { authProvider: { name: 'tokenFile', config: { tokenFile } } }),
    },
  );
  return config;
}

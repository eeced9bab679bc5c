import packageJson from '../../../package.json' with { type: 'json' };

/** Named as in https://olm.operatorframework.io/docs/best-practices/channel-naming/. */
export const CHANNEL = 'stable';

const PREFIX = 'operators.operatorframework.io';

/** How opm reads the bundle: the annotations of its folder, and the labels of its image. */
export function annotations(): Record<string, string> {
  return {
    [`${PREFIX}.bundle.mediatype.v1`]: 'registry+v1',
    [`${PREFIX}.bundle.manifests.v1`]: 'manifests/',
    [`${PREFIX}.bundle.metadata.v1`]: 'metadata/',
    [`${PREFIX}.bundle.package.v1`]: packageJson.name,
    [`${PREFIX}.bundle.channels.v1`]: CHANNEL,
    [`${PREFIX}.bundle.channel.default.v1`]: CHANNEL,
  };
}

/** The Dockerfile of the bundle image: `docker build bundle`. */
export function dockerfile(): string {
  const labels = Object.entries(annotations()).map(([key, value]) => `LABEL ${key}=${value}`);
  const copies = ['manifests', 'metadata'].map((folder) => `COPY ${folder} /${folder}/`);
  return `${['FROM scratch', ...labels, ...copies].join('\n')}\n`;
}

import { z } from 'zod';

/** Labels, annotations, headers. */
export const stringMap = z.record(z.string(), z.string());
/** Part of a Kubernetes object, which the API server checks. */
export const anyMap = z.looseObject({});
/** A list of such parts. */
export const anyList = z.array(anyMap);

const GO_DURATION = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/;

/** The name of the ServiceAccount of a Deployment of its own. @param suffix of the Deployment's name */
export const accountName = (suffix: string): z.ZodDefault<z.ZodString> =>
  z
    .string()
    .default('')
    .describe(`Name; empty: <full name>-${suffix}. With serviceAccount.create=false, the ServiceAccount must exist.`);

/** A duration in Go syntax: 90s, 1m30s. */
export const duration = z.string().regex(GO_DURATION);
/** A duration of whole seconds, from 2s on: 90s, 1m30s. An operator with another interval of reports does not start. */
export const reportDuration = z.string().regex(/^(([2-9]|[1-9][0-9]+)s|[1-9][0-9]*[mh]([0-9]+[ms])*)$/);
/** The same as a duration, or empty if there is a default elsewhere. */
export const optionalDuration = z.string().regex(new RegExp(`^$|${GO_DURATION.source}`));
/** A DNS label (RFC 1123), such as the name of a namespace. */
export const dnsLabel = z.string().regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
/** Namespaces in which the operator has a right: names, or "*" for every namespace. */
export const allowedNamespaces = z.array(z.union([z.literal('*'), dnsLabel]));
/** Most kinds of objects: the policy for requesters checks a right on each, and its cost is limited. */
export const MOST_OBJECT_KINDS = 16;
/** A namespaced kind, with the plural name that RBAC has. */
export const objectKind = z.strictObject({
  apiVersion: z.string().regex(/^([a-z0-9][-a-z0-9.]*\/)?v[0-9][a-z0-9]*$/),
  kind: z.string().regex(/^[A-Z][A-Za-z0-9]*$/),
  resource: z.string().regex(/^[a-z][-a-z0-9]*$/),
});

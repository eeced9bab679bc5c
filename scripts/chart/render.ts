import { Document, isMap, isScalar, type YAMLMap } from 'yaml';
import { z } from 'zod';

/** One value of a chart: its path, default and description. */
interface Value {
  path: string[];
  fallback: unknown;
  description: string;
}

/** The default of every value as YAML, with the descriptions as comments. */
export function renderValues(schema: z.ZodObject, header: string): string {
  const document = new Document(schema.parse({}));
  document.commentBefore = header;
  comment(document.contents as unknown as YAMLMap, schema, 0);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** JSON schema, with which helm validates values. */
export function renderValuesSchema(schema: z.ZodObject): string {
  const json = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    // The default of an object consists of the defaults of its fields.
    override: ({ jsonSchema }) => {
      if (jsonSchema.properties) delete jsonSchema.default;
    },
  });
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** A Markdown table of all values. */
export function renderValuesTable(schema: z.ZodObject): string {
  const rows = leaves(schema).map(({ path, fallback, description }) => {
    const cells = [`\`${path.join('.')}\``, `\`${JSON.stringify(fallback)}\``, description];
    return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  });
  return ['| Value | Default | What it is |', '|---|---|---|', ...rows].join('\n');
}

/** The path of each value, such as 'metrics.port', in the order of the table. */
export function valuePaths(schema: z.ZodObject): string[] {
  return leaves(schema).map(({ path }) => path.join('.'));
}

function leaves(schema: z.ZodObject, above: readonly string[] = []): Value[] {
  const defaults = schema.parse({});
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([key, field]) => {
    const path = [...above, key];
    const inner = strictObject(field);
    if (inner) return leaves(inner, path);
    return key in defaults ? [{ path, fallback: defaults[key], description: field.description ?? '' }] : [];
  });
}

/** The object behind a default; undefined if it allows any key. */
function strictObject(field: z.ZodType): z.ZodObject | undefined {
  const inner = field instanceof z.ZodPrefault ? (field.unwrap() as z.ZodType) : field;
  return inner instanceof z.ZodObject && inner.def.catchall instanceof z.ZodNever ? inner : undefined;
}

function comment(map: YAMLMap, schema: z.ZodObject, depth: number): void {
  for (const pair of map.items) {
    if (!isScalar(pair.key)) continue;
    const field = schema.shape[String(pair.key.value)] as z.ZodType | undefined;
    if (field === undefined) continue;
    pair.key.commentBefore = ` ${field.description ?? ''}`;
    pair.key.spaceBefore = depth === 0;
    const inner = strictObject(field);
    if (inner && isMap(pair.value)) comment(pair.value, inner, depth + 1);
  }
}

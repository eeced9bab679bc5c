const CENSOR = '[redacted]';

/**
 * Replaces secrets in a text from another program. Finds them plain or URL-encoded, and with any white space between
 * their words. Call it before shortening a text, which could leave a part of a secret.
 */
export function conceal(text: string, secrets: readonly string[]): string {
  // One secret may contain another.
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, secret) => rest.replaceAll(formsOf(secret), CENSOR), text);
}

function formsOf(secret: string): RegExp {
  const spaced = secret
    .trim()
    .split(/\s+/)
    .map(literally)
    .join(String.raw`\s+`);
  return new RegExp(`${spaced}|${literally(encodeURIComponent(secret))}`, 'g');
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}

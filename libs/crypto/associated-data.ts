/**
 * Encodes the parts of associated data. The lengths make the encoding unambiguous: two different lists of parts
 * never have the same bytes.
 */
export function associatedData(...parts: string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const text = Buffer.from(part, 'utf8');
      const length = Buffer.alloc(4);
      length.writeUInt32BE(text.length);
      return [length, text];
    }),
  );
}

/** Files of a ZIP archive, without a program that unpacks it. */
import { inflateRawSync } from 'node:zlib';

/** A compressed file of an archive, by the archive's central directory (PKWARE's APPNOTE, 4.3). Throws without the file. */
export function unzip(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf('PK\x05\x06');
  for (let at = archive.readUInt32LE(end + 16); archive.readUInt32LE(at) === 0x02014b50; ) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    ) as [number, number, number];
    if (archive.toString('utf8', at + 46, at + 46 + nameBytes) === name) {
      const header = archive.readUInt32LE(at + 42);
      const begin =
        header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      return inflateRawSync(archive.subarray(begin, begin + archive.readUInt32LE(at + 20)));
    }
    at += 46 + nameBytes + extraBytes + commentBytes;
  }
  throw new Error(`the archive has no ${name}`);
}

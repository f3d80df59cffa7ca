/** Chromium, from a package of the npm registry that holds it with the libraries and the font that it needs. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { cachedPart, digestOf } from './cache.ts';
import { unpackNpmPackage } from './npm-package.ts';
import { run } from './run.ts';

/** Chromium 153 for Linux on x64. */
const PACKAGE = {
  spec: '@sparticuz/chromium@153.0.0',
  integrity:
    'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==',
};

/** The package's own file names folders of AWS Lambda, and Chromium crashes where it finds no font. */
const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** The path of the program, and the variables by which it finds its libraries and fonts. */
export async function packagedChromium(): Promise<{
  executablePath: string;
  env: Record<string, string>;
}> {
  const digest = await digestOf([], PACKAGE.spec, PACKAGE.integrity, FONTS_CONF);
  const folder = await cachedPart('chromium', digest, fetchChromium);
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      LD_LIBRARY_PATH: join(folder, 'libraries/lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  };
}

async function fetchChromium(folder: string): Promise<void> {
  await unpackNpmPackage(PACKAGE, folder);
  await decompress(join(folder, 'bin/chromium.br'), join(folder, 'chromium'));
  await unpack(folder, 'swiftshader', folder);
  await unpack(folder, 'al2023', join(folder, 'libraries'));
  await unpack(folder, 'fonts', folder);
  await writeFile(join(folder, 'fonts.conf'), FONTS_CONF);
  await rm(join(folder, 'bin'), { recursive: true });
}

async function unpack(folder: string, name: string, into: string): Promise<void> {
  const archive = join(folder, `bin/${name}.tar`);
  await decompress(`${archive}.br`, archive);
  await mkdir(into, { recursive: true });
  await run('tar', ['--extract', '--file', archive], { cwd: into });
}

async function decompress(from: string, to: string): Promise<void> {
  const target = createWriteStream(to, { mode: 0o755 });
  await pipeline(createReadStream(from), createBrotliDecompress(), target);
}

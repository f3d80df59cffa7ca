// What pnpm changes in the manifests of dependencies when it resolves them.

/** The page loads dist/browser/standalone.js alone, which holds all that it needs: 300 packages less. */
function readPackage(manifest) {
  if (manifest.name === '@scalar/api-reference') manifest.dependencies = {};
  return manifest;
}

export const hooks = { readPackage };

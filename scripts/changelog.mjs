/** Lines of a CHANGELOG.md, for `changeset version`: the sentences of the changesets, and one for what a package needs. */
export default {
  getReleaseLine: async ({ summary }) => `- ${summary.trim().replaceAll('\n', '\n  ')}`,
  getDependencyReleaseLine: async (_changesets, updated) =>
    updated.length ? `- Needs ${updated.map(({ name, newVersion }) => `${name} ${newVersion}`).join(', ')}.` : '',
};

// Gives pi the command /back, which goes back to before the prompt with these words, as /tree does.
export default function (pi) {
	pi.registerCommand("back", {
		description: "Go back to before a prompt",
		handler: async (words, ctx) => {
			const asked = (e) => e.type === "message" && e.message.role === "user" && JSON.stringify(e.message.content).includes(words);
			await ctx.navigateTree(ctx.sessionManager.getEntries().find(asked).id, { summarize: false });
		},
	});
}

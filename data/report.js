// Searches the answers, and copies commands. Without it the page shows all the same.
(() => {
	const rows = [...document.querySelectorAll('#answers tbody tr')];
	const words = document.getElementById('words');
	const verdict = document.getElementById('verdict');
	const shown = document.getElementById('shown');

	document.querySelector('.find').hidden = false;

	function search() {
		const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
		let count = 0;

		for (const row of rows) {
			const text = row.textContent.toLowerCase();

			row.hidden = (verdict.value && row.dataset.verdict !== verdict.value) ||
				!wanted.every(word => text.includes(word));
			count += !row.hidden;
		}
		shown.textContent = count + (count === 1 ? ' answer' : ' answers');
	}
	words.oninput = verdict.onchange = search;
	search();

	if (navigator.clipboard)
		for (const block of document.querySelectorAll('pre.command')) {
			const button = document.createElement('button');

			button.type = 'button';
			button.textContent = 'Copy';
			button.onclick = () => navigator.clipboard.writeText(block.textContent)
				.then(() => { button.textContent = 'Copied'; });
			block.after(button);
		}
})();

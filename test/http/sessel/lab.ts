/** The document that programs of `programs.txt` are asked about. */
export const LAB = `<!doctype html><html lang="en"><head><title>Lab</title><meta name="d" content="x y"></head><body><main id="main"><h1>Lab  notes</h1>
<section class="a b" data-n="1" data-x><p>One <b>bold</b> &amp; more</p><p></p><img src="/i.png" alt=""><img alt="n"><a href="rel/x">Link</a><time datetime="2026-01-02">Jan</time><time>Feb 3</time><object data="/o.swf"></object><meter value="3">three</meter><data>nodata</data></section>
<div id="ada" itemscope itemtype="https://example.com/Person"><span itemprop="name">Ada</span><i itemprop="tag">x</i><i itemprop="tag">y</i><div itemprop="home" itemscope itemtype="https://example.com/Place#Town"><b itemprop="city">London</b></div><meta itemprop="born" content="1815"></div>
<div itemscope><i itemprop="tag">z</i></div><template><p class="t">in</p></template><table><tr><td>7</td></tr></table><ul><li>10</li><li>9</li><li>ten</li><li>-2.5</li></ul></main></body></html>`

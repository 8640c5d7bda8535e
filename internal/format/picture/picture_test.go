package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// of reads a picture that is not in base64.
func of(t *testing.T, raw []byte) (p Picture, moving, cut bool) {
	t.Helper()
	d, ok := Read([]byte(base64.StdEncoding.EncodeToString(raw)))
	require.True(t, ok)
	require.Equal(t, len(raw), d.Len())
	p = Of(d)
	moving, cut = Body(d, p.Type)
	return p, moving, cut
}

// noise returns a picture that does not get small when it is compressed.
func noise(r *rand.Rand, w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
	}
	return m
}

// box returns a box of HEIF.
func box(kind string, content ...[]byte) []byte {
	all := append([]byte("\x00\x00\x00\x00"+kind), bytes.Join(content, nil)...)
	binary.BigEndian.PutUint32(all, uint32(len(all)))
	return all
}

func be32(n ...uint32) (all []byte) {
	for _, n := range n {
		all = binary.BigEndian.AppendUint32(all, n)
	}
	return all
}

// made returns a whole picture of each type, of 300 x 41 pixels.
func made(t *testing.T) map[string][]byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 300, 41))
	for i := range m.Pix {
		m.Pix[i] = byte(i / 997)
	}
	encoded := func(encode func(*bytes.Buffer) error) []byte {
		var b bytes.Buffer
		require.NoError(t, encode(&b))
		return b.Bytes()
	}
	one := image.NewPaletted(m.Bounds(), palette.Plan9)
	for i := range one.Pix {
		one.Pix[i] = m.Pix[i]
	}
	moving := &gif.GIF{Image: []*image.Paletted{one, one, one}, Delay: []int{1, 1, 1}}
	riff := func(chunk string, content ...byte) []byte {
		all := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x00\x00\x00\x00"), content...)
		all = append(all, make([]byte, 40)...)
		binary.LittleEndian.PutUint32(all[4:], uint32(len(all)-8))
		return all
	}
	le24 := func(n int) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16)} }
	lossless := binary.LittleEndian.AppendUint32([]byte{0x2f}, 299|40<<14)
	heif := func(brand string) []byte {
		ispe := func(w, h uint32) []byte { return box("ispe", be32(0, w, h)) }
		return append(box("ftyp", []byte(brand), be32(0)), box("meta", be32(0), ispe(30, 4), ispe(300, 41), ispe(16, 16))...)
	}
	bmp := append([]byte("BM"), make([]byte, 60)...)
	binary.LittleEndian.PutUint32(bmp[18:], 300)
	binary.LittleEndian.PutUint32(bmp[22:], uint32(0xffffffff-40)) // -41
	return map[string][]byte{
		"image/png":           encoded(func(b *bytes.Buffer) error { return png.Encode(b, m) }),
		"image/jpeg":          encoded(func(b *bytes.Buffer) error { return jpeg.Encode(b, m, nil) }),
		"image/gif":           encoded(func(b *bytes.Buffer) error { return gif.Encode(b, one, nil) }),
		"image/gif moving":    encoded(func(b *bytes.Buffer) error { return gif.EncodeAll(b, moving) }),
		"image/webp lossy":    riff("VP8 ", append([]byte{0, 0, 0, 0x9d, 0x01, 0x2a}, 0x2c, 0x01, 41, 0)...),
		"image/webp":          riff("VP8L", lossless...),
		"image/webp extended": riff("VP8X", append([]byte{0x10, 0, 0, 0}, append(le24(299), le24(40)...)...)...),
		"image/heic":          heif("heic"),
		"image/heif":          heif("mif1"),
		"image/avif":          heif("avif"),
		"image/bmp":           bmp,
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	for name, raw := range made(t) {
		kind, _, _ := strings.Cut(name, " ")
		p, moving, cut := of(t, raw)
		require.Equal(t, Picture{kind, 300, 41}, p, name)
		require.Equal(t, name == "image/gif moving", moving, name)
		require.False(t, cut, name)
		_, _, cut = of(t, append(bytes.Clone(raw), make([]byte, 70<<10)...))
		require.False(t, cut, "%s with something after its end", name)
	}
	for text, kind := range map[string]string{
		"%PDF-1.7 and so on": "application/pdf", "II*\x00 and so on": "image/tiff", "MM\x00* and so on": "image/tiff", "": "", "no picture": "",
		`<svg xmlns="http://www.w3.org/2000/svg"/>`: "image/svg+xml", "\n<?xml version=\"1.0\"?>\n<svg/>": "image/svg+xml", "<html/>": "",
	} {
		p, moving, cut := of(t, []byte(text))
		require.Equal(t, Picture{Type: kind}, p, text)
		require.False(t, moving || cut, text)
	}
}

// TestCutPictures reads each beginning of pictures.
func TestCutPictures(t *testing.T) {
	t.Parallel()
	whole := 0
	for name, raw := range made(t) {
		for n := range len(raw) - 1 {
			p, _, cut := of(t, raw[:n])
			switch kind, _, _ := strings.Cut(name, " "); {
			case p.Type == "" || kind == "image/heic" || kind == "image/heif" || kind == "image/avif" || kind == "image/bmp": // their end is not judged
			default:
				require.Equal(t, kind, p.Type)
				if name == "image/gif moving" && !cut {
					whole++ // between two frames
					break
				}
				require.True(t, cut, "%s of %d bytes cut at %d", name, len(raw), n)
			}
			require.Contains(t, []int{0, 300, 30}, p.Width)
		}
	}
	require.Positive(t, whole)
}

// TestOddPictures reads pictures that programs show, though they are not like most of their type.
func TestOddPictures(t *testing.T) {
	t.Parallel()
	all := made(t)
	withoutTrailer := func(name string) []byte { return bytes.TrimSuffix(all[name], []byte(";")) }
	avif := bytes.Replace(all["image/avif"], box("ftyp", []byte("avif"), be32(0)), box("ftyp", []byte("mif1"), be32(0), []byte("miafavif")), 1)
	huge := bytes.Clone(all["image/png"])
	copy(huge[16:], be32(1<<32-1, 1<<31))
	smallest, err := base64.StdEncoding.DecodeString("UklGRhIAAABXRUJQVlA4TAYAAAAvQWxvAGs=") // a WebP of 26 bytes
	require.NoError(t, err)
	for name, c := range map[string]struct {
		raw  []byte
		want Picture
	}{
		"a GIF without a trailer":             {withoutTrailer("image/gif"), Picture{"image/gif", 300, 41}},
		"a GIF that moves, without a trailer": {withoutTrailer("image/gif moving"), Picture{"image/gif", 300, 41}},
		"the smallest WebP":                   {smallest, Picture{"image/webp", 11330, 446}},
		"an AVIF of a general brand":          {avif, Picture{"image/avif", 300, 41}},
		"a PNG with a width of 32 bits":       {huge, Picture{"image/png", 1<<31 - 1, 1<<31 - 1}},
	} {
		p, moving, cut := of(t, c.raw)
		require.Equal(t, c.want, p, name)
		require.Equal(t, strings.Contains(name, "moves"), moving, name)
		require.False(t, cut, name)
	}
}

// TestLongHeader finds the size of a JPEG after much else, and does not look for it for ever.
func TestLongHeader(t *testing.T) {
	t.Parallel()
	raw := made(t)["image/jpeg"]
	with := func(segments int) (p Picture, moving, cut bool) {
		segment := append([]byte{0xff, 0xe1, 0xff, 0xff}, make([]byte, 0xffff-2)...)
		return of(t, append(append([]byte{0xff, 0xd8}, bytes.Repeat(segment, segments)...), raw[2:]...))
	}
	p, _, cut := with(3)
	require.Equal(t, Picture{"image/jpeg", 300, 41}, p)
	require.False(t, cut)
	p, _, cut = with(10)
	require.Equal(t, Picture{Type: "image/jpeg"}, p)
	require.False(t, cut, "it cannot be told")
}

// TestBase64 compares with the base64 of the standard library.
func TestBase64(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testenv.Seed(t), 1))
	for range 3000 {
		raw := make([]byte, r.IntN(40))
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		for _, with := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			text := with.EncodeToString(raw)
			for range r.IntN(3) {
				at := r.IntN(len(text) + 1)
				text = text[:at] + []string{" ", "\n", "\r\n\t"}[r.IntN(3)] + text[at:]
			}
			d, ok := Read([]byte(text))
			require.True(t, ok, text)
			require.Equal(t, strings.ContainsAny(text, "-_"), d.URL())
			off, end := r.IntN(42), r.IntN(42)
			want := raw[min(off, len(raw)):min(max(off, end), len(raw))]
			require.Equal(t, want, d.AppendTo([]byte{}, off, end), "%d to %d of %q", off, end, text)
		}
	}
	for _, text := range []string{"!", "AAAA*", "A", "AAAAA", "AA=A", "AA===", "+-AA", "AAä=", "data:image/png;base64,AAAA"} {
		_, ok := Read([]byte(text))
		require.False(t, ok, text)
	}
	_, ok := Read(nil)
	require.True(t, ok)
}

func FuzzPicture(f *testing.F) {
	t := &testing.T{}
	for _, raw := range made(t) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { of(t, raw) })
}

// BenchmarkOf reads a picture of 4 MB.
func BenchmarkOf(b *testing.B) {
	var raw bytes.Buffer
	require.NoError(b, jpeg.Encode(&raw, noise(rand.New(rand.NewPCG(1, 2)), 2000, 1300), &jpeg.Options{Quality: 90}))
	text := []byte(base64.StdEncoding.EncodeToString(raw.Bytes()))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		d, _ := Read(text)
		if _, cut := Body(d, Of(d).Type); cut {
			b.Fatal("cut")
		}
	}
}

;; A WASI command: reads its input, {"text": "..."}, from standard input and prints the number of words.
;; Build it with `wat2wasm count.wat`, or with Python: wasmtime.wat2wasm(open("count.wat").read()).
(module
  (import "wasi_snapshot_preview1" "fd_read"
    (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write"
    (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 32)

  ;; 0: where to read or write and how much; 8: how much it was; 16-47: digits; from 64: the input
  (func $load (result i32) (local $end i32)
    (local.set $end (i32.const 64))
    (loop $more
      (i32.store (i32.const 0) (local.get $end))
      (i32.store (i32.const 4) (i32.sub (i32.const 2097152) (local.get $end)))
      (if (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8))
        (then (call $exit (i32.const 1))))
      (local.set $end (i32.add (local.get $end) (i32.load (i32.const 8))))
      (br_if $more (i32.load (i32.const 8))))
    (local.get $end))

  ;; A word starts where a letter follows something that is none. The name of the field, "text", is skipped
  ;; by starting behind the colon; \n and \t arrive as a backslash and a letter, which ends the word before.
  (func $count (param $end i32) (result i32)
    (local $at i32) (local $inside i32) (local $words i32) (local $byte i32)
    (local.set $at (i32.const 64))
    (block $found
      (loop $search
        (br_if $found (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $search (i32.ne (local.get $byte) (i32.const 58)))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $byte (i32.load8_u (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (if (i32.eq (local.get $byte) (i32.const 92))
          (then
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (local.set $inside (i32.const 0))
            (br $next)))
        (if (call $blank (local.get $byte))
          (then (local.set $inside (i32.const 0)) (br $next)))
        (if (i32.eqz (local.get $inside))
          (then (local.set $words (i32.add (local.get $words) (i32.const 1)))))
        (local.set $inside (i32.const 1))
        (br $next)))
    (local.get $words))

  ;; Blanks, quotation marks and braces separate words.
  (func $blank (param $byte i32) (result i32)
    (i32.or
      (i32.le_u (local.get $byte) (i32.const 34))
      (i32.or
        (i32.eq (local.get $byte) (i32.const 123))
        (i32.eq (local.get $byte) (i32.const 125)))))

  (func $print (param $number i32) (local $at i32)
    (local.set $at (i32.const 48))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at)
        (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
      (local.set $number (i32.div_u (local.get $number) (i32.const 10)))
      (br_if $digit (local.get $number)))
    (i32.store (i32.const 0) (local.get $at))
    (i32.store (i32.const 4) (i32.sub (i32.const 48) (local.get $at)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))))

  (func (export "_start")
    (call $print (call $count (call $load)))))

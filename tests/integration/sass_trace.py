"""Small Accel-Sim SASS traces, whole or damaged."""

EXIT = "0ff0 ffffffff 0 EXIT 0 0 0"


def load(address):
    return f"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x{address:x} 4 0"


def kernel(name="k", ctas=8, warps=1, loads=6, registers=20, shared=512):
    """The header has 11 lines; CTA c begins in line 12 + c * (3 + warps * (3 + loads))."""
    text = (f"-kernel name = {name}\n-kernel id = 1\n-grid dim = ({ctas},1,1)\n-block dim = ({32 * warps},1,1)\n"
            f"-shmem = {shared}\n-nregs = {registers}\n-shmem base_addr = 0x00007f0001000000\n"
            "-accelsim tracer version = 5\n-enable lineinfo = 0\n\n#traces format = ...\n")
    for cta in range(ctas):
        text += f"#BEGIN_TB\nthread block = {cta},0,0\n"
        for warp in range(warps):
            text += f"warp = {warp}\ninsts = {loads + 1}\n"
            for i in range(loads):
                text += load(0x7FB0FC400000 + 128 * ((cta * warps + warp) * loads + i)) + "\n"
            text += EXIT + "\n"
        text += "#END_TB\n"
    return text


def replace_line(text, number, line):
    """Lines count from 1."""
    lines = text.split("\n")
    lines[number - 1] = line
    return "\n".join(lines)

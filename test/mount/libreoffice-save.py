"""Opens a document with LibreOffice by its address, adds a line, saves it, saves it again under another name.

Arguments: address, address of the copy, name of the pipe on which LibreOffice listens, its process.
"""

import os
import sys
import time

import uno
from com.sun.star.connection import NoConnectException
from com.sun.star.beans import PropertyValue
from com.sun.star.lang import DisposedException

address, copy, pipe, process = sys.argv[1:5]
local = uno.getComponentContext()
resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)


def connect():
    """As long as LibreOffice runs: how long it takes to start is not bounded here."""
    while os.path.exists(f"/proc/{process}"):
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            time.sleep(0.05)
    sys.exit("LibreOffice has ended before it answered")


hidden = PropertyValue()
hidden.Name, hidden.Value = "Hidden", True
context = connect()
desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
document = desktop.loadComponentFromURL(address, "_blank", 0, (hidden,))
print("read only" if document.isReadonly() else "writable")
text = document.getText()
cursor = text.createTextCursor()
cursor.gotoEnd(False)
text.insertString(cursor, ", saved by LibreOffice", False)
document.store()
print("saved")
document.storeAsURL(copy, ())
print("saved as")
document.close(True)
try:
    desktop.terminate()
except DisposedException:
    # It may be gone before it has answered.
    pass
sys.stdout.flush()
# Without taking down the bridge to LibreOffice, which crashes at times when the other side goes at the same moment.
os._exit(0)

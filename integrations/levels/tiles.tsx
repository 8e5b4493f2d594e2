<?xml version="1.0" encoding="UTF-8"?>
<tileset version="1.10" tiledversion="1.11.2" name="tiles" tilewidth="16" tileheight="16" tilecount="136" columns="8">
 <image source="../../assets/tiles.png" width="128" height="272"/>
 <tile id="0">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="1">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="2">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="3">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="4">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="5">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="6">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="7">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="8">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="9">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="10">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="11">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="12">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="13">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="14">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="15">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="16">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="17">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="18">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="19">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="20">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="21">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="22">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="23">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="24">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="25">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="26">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="27">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="28">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="29">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="30">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="31">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="32">
  <properties>
   <property name="terrain" value="T"/>
  </properties>
 </tile>
 <tile id="33">
  <properties>
   <property name="terrain" value="T"/>
  </properties>
 </tile>
 <tile id="34">
  <properties>
   <property name="terrain" value="T"/>
  </properties>
 </tile>
 <tile id="35">
  <properties>
   <property name="terrain" value="T"/>
  </properties>
 </tile>
 <tile id="36">
  <properties>
   <property name="terrain" value="T"/>
  </properties>
 </tile>
 <tile id="37">
  <properties>
   <property name="terrain" value="T"/>
  </properties>
 </tile>
 <tile id="38">
  <properties>
   <property name="terrain" value="T"/>
  </properties>
 </tile>
 <tile id="39">
  <properties>
   <property name="terrain" value="T"/>
  </properties>
 </tile>
 <tile id="40">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="41">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="42">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="43">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="44">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="45">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="46">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="48">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="49">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="50">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="51">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="52">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="53">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="54">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="55">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="56">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="57">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="58">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="59">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="60">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="61">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="62">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="63">
  <properties>
   <property name="terrain" value="W"/>
  </properties>
 </tile>
 <tile id="64">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="65">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="66">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="67">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="68">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="69">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="70">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="71">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="72">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="73">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="74">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="75">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="76">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="77">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="78">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="79">
  <properties>
   <property name="terrain" value="@"/>
  </properties>
 </tile>
 <tile id="96">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="97">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="98">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="99">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="100">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="101">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="102">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="103">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="104">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="105">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="106">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="107">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="108">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="109">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="110">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="111">
  <properties>
   <property name="terrain" value="G"/>
  </properties>
 </tile>
 <tile id="112">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="113">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="114">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="115">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="116">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="117">
  <properties>
   <property name="terrain" value="."/>
  </properties>
 </tile>
 <tile id="120">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="121">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="122">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="123">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="124">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="125">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="126">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="127">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="128">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="129">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="130">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="131">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="132">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="133">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="134">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
 <tile id="135">
  <properties>
   <property name="terrain" value="S"/>
  </properties>
 </tile>
</tileset>
